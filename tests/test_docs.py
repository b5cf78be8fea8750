"""The examples in the docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import rotajax

MODULES = [found.name for found in pkgutil.walk_packages(rotajax.__path__, "rotajax.") if "__main__" not in found.name]


@pytest.mark.parametrize("name", ["rotajax", *MODULES])
def test_examples_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    tests = [t for name in MODULES for t in finder.find(importlib.import_module(name))]
    assert sum(bool(found.examples) for found in tests) >= 8
