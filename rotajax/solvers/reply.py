"""`Reply`: what a solver answers, and the two ways in which it can fail without its own fault."""

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rotajax.checks import require
from rotajax.env.actions import ACTIONS, STOP
from rotajax.solvers.question import Journal, Question


@dataclasses.dataclass(frozen=True)
class Reply:
    """A decision, or the reason why there is none. Raises ValueError for both or neither, for an unknown
    index, and for fields that JSON cannot hold."""

    action: int | None  # an index of ACTIONS, 24 is STOP
    failure: str | None = None  # a reason code: the solver's own failure to give a legal action
    text: str = ""  # the answer's "cot": shown in later turns
    fields: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # JSON values to be recorded

    def __post_init__(self) -> None:
        if self.action is None:
            require(bool(self.failure), "reply: failure", "a reason code where there is no action", repr(self.failure))
        else:
            require(self.failure is None, "reply: failure", "none beside an action", repr(self.failure))
            whole = isinstance(self.action, int | np.integer) and not isinstance(self.action, bool)
            good = whole and 0 <= self.action <= STOP
            require(good, "reply: action", f"an index from 0 to {STOP}", repr(self.action))
        try:
            json.dumps(dict(self.fields), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"reply: fields: expected JSON values, got {error}") from None

    @property
    def named(self) -> tuple[str, int]:
        """The direction and the angle of the action. Raises ValueError where there is none."""
        require(self.action is not None, "reply: action", "an action", f"the failure {self.failure}")
        return ACTIONS[self.action]  # type: ignore[index]


class InfrastructureError(Exception):
    """A failure that is not the solver's: the episode is excluded with a count, and asked again by the next run."""

    def __init__(self, kind: str, message: str = ""):
        super().__init__(message or kind)
        self.kind = kind


class Stopped(Exception):
    """The whole run must stop, resumably: an exhausted quota, a budget, a key that stopped working."""


# Awaited once before the first question of a run, with the journal of what it asks itself; returns lines for the user.
Prepare = Callable[[Journal], Awaitable[Sequence[str]]]
# Optional attributes of a solver: `prepare`; `aclose`, awaited at the end; `asked`, JSON values for run.json, which a
# run that goes on must match, where "knows" labels the results; `budget`.
Solver = Callable[[Question], Awaitable[Reply]]
