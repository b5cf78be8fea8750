"""`build`: the solver of `rotajax eval --solver api`."""

import argparse

from rotajax.solvers.api import RETRIES, api_solver
from rotajax.solvers.endpoint import open_endpoint
from rotajax.solvers.reply import Solver


def build(args: argparse.Namespace) -> Solver:
    """Return the solver of a model at an endpoint; see `open_endpoint` for what the options must say."""
    endpoint = open_endpoint(args)
    solver = api_solver(endpoint.client, price=endpoint.price, budget=endpoint.budget, prepare=endpoint.prepare)
    solver.asked = {"solver": "api", **endpoint.asked, "retries": RETRIES}  # type: ignore[attr-defined]
    solver.budget = endpoint.budget  # type: ignore[attr-defined]
    return solver
