# `make demo` and `make test` set everything up from nothing; see README.md.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: help setup demo test check slow bench clean
help:
	@echo "make setup   a .venv with everything, from nothing; a no-op when done"
	@echo "make demo    the four baselines on the embedded suite: table, curve, run files in runs/demo"
	@echo "make test    the tests, from the checkout and on the built wheel"
	@echo "make check   linter, types and tests"
	@echo "make slow    the tests that take minutes as well"
	@echo "make bench   benchmarks beside their peers; writes benchmarks/README.md"

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml constraints.txt scripts/require_cairo.sh
	@sh scripts/require_cairo.sh
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,dev]"
	@touch $@

demo: setup
	$(VENV)/bin/rotajax baselines --suite mini --out runs/demo

test: setup
	$(RUN) -m pytest --numprocesses 2 --dist loadfile
	sh scripts/test_wheel.sh

slow: setup
	$(RUN) -m pytest --slow --numprocesses 2 --dist loadfile

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyright
	$(MAKE) test

bench: setup
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(RUN) -m benchmarks

clean:
	rm -rf $(VENV) runs build dist
