"""`build`: the solver of `rotajax eval --solver react`."""

import argparse

from rotajax.solvers.agents.command import open_workshop
from rotajax.solvers.agents.react import react_solver
from rotajax.solvers.api import RETRIES
from rotajax.solvers.endpoint import open_endpoint
from rotajax.solvers.reply import Solver


def build(args: argparse.Namespace) -> Solver:
    """Return the agent of a model at an endpoint. Raises ValueError as `open_endpoint` and `open_workshop` do."""
    workshop, shut_in = open_workshop(args)
    endpoint = open_endpoint(args)
    solver = react_solver(
        endpoint.client, workshop, price=endpoint.price, budget=endpoint.budget, prepare=endpoint.prepare
    )
    solver.asked = {"solver": "react", **endpoint.asked, "retries": RETRIES, **shut_in}  # type: ignore[attr-defined]
    solver.budget = endpoint.budget  # type: ignore[attr-defined]
    return solver
