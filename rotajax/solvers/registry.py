"""`make_solver`: a solver by the name that a command line gives it."""

import argparse
import os
import sys
from importlib import import_module

from rotajax.checks import require
from rotajax.solvers.reply import Solver

# Name: the module whose `build(args)` returns the solver; imported when it is asked for. What stands after a colon in
# --solver is in args.argument.
BUILDERS = {
    "api": "rotajax.solvers.api_command",
    "pixels": "rotajax.solvers.pixels",
    "react": "rotajax.solvers.agents.react_command",
    "magentic": "rotajax.solvers.agents.magentic_command",
    "checkpoint": "rotajax.train.solver",
}
# Solvers that ask a model at an endpoint.
ENDPOINTS = ("api", "react", "magentic")


def make_solver(args: argparse.Namespace) -> Solver:
    """Return the solver that `args.solver` names: one of BUILDERS, or a user's own as `module.path:function`.

    Raises ValueError for a name that is neither, and what its builder raises.
    """
    name, _, args.argument = args.solver.partition(":")
    if name in BUILDERS:
        return import_module(BUILDERS[name]).build(args)
    known = f"one of {', '.join(BUILDERS)}, or module.path:function"
    require(bool(args.argument), "eval: --solver", known, repr(args.solver))
    return _own(name, args.argument)


def _own(module: str, name: str) -> Solver:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does: a file beside the user is found
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise ValueError(f"eval: --solver: expected a module '{module}', got: {error}") from None
    require(callable(found), f"eval: --solver: {module}", f"a function {name}", repr(found))
    return found  # type: ignore[return-value]
