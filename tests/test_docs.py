"""The examples in the docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import rotajax

# What runs in the jail of an agent's code is a program of its own there, with its own path.
JAIL = "rotajax.solvers.agents.jail."
MODULES = [
    found.name
    for found in pkgutil.walk_packages(rotajax.__path__, "rotajax.")
    if "__main__" not in found.name and not found.name.startswith(JAIL)
]


def imported(name):
    """A module; None where it needs an extra that is not installed and says so."""
    try:
        return importlib.import_module(name)
    except ValueError as error:
        if "pip install 'rotajax[" not in str(error):
            raise
        return None


@pytest.mark.parametrize("name", ["rotajax", *MODULES])
def test_examples_run(name):
    module = imported(name)
    if module is None:
        pytest.skip(f"{name} needs an extra that is not installed")
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    tests = [t for name in MODULES if (module := imported(name)) for t in finder.find(module)]
    assert sum(bool(found.examples) for found in tests) >= 8
