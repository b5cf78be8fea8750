"""Solvers: models through an API, agents, and a solver from pixels, in a loop whose records are never lost.

A solver is one async function from a `Question`, the pictures and nothing else, to a `Reply`.
"""

from rotajax.solvers.question import CONDITIONS, Condition, Panel, Question, Turn
from rotajax.solvers.reply import InfrastructureError, Reply, Solver, Stopped

__all__ = [
    "CONDITIONS",
    "Condition",
    "InfrastructureError",
    "Panel",
    "Question",
    "Reply",
    "Solver",
    "Stopped",
    "Turn",
]
