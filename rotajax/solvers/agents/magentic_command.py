"""`build`: the solver of `rotajax eval --solver magentic`."""

import argparse
import dataclasses

from rotajax.solvers.agents.command import open_workshop
from rotajax.solvers.agents.magentic import RULES, magentic_solver
from rotajax.solvers.api import RETRIES
from rotajax.solvers.endpoint import open_endpoint
from rotajax.solvers.reply import Solver


def build(args: argparse.Namespace) -> Solver:
    """Return the team of a model at an endpoint. Raises ValueError as `open_endpoint` and `open_workshop` do."""
    workshop, shut_in = open_workshop(args)
    endpoint = open_endpoint(args)
    solver = magentic_solver(
        endpoint.client, workshop, price=endpoint.price, budget=endpoint.budget, prepare=endpoint.prepare
    )
    asked = {"solver": "magentic", **endpoint.asked, "retries": RETRIES, **dataclasses.asdict(RULES), **shut_in}
    solver.asked = asked  # type: ignore[attr-defined]
    solver.budget = endpoint.budget  # type: ignore[attr-defined]
    return solver
