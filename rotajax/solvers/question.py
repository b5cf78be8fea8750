"""`Question`: what a solver is asked at a turn: the pictures, what it did before, and nothing of the ground truth."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rotajax.types import Bool, UInt8


class Condition(NamedTuple):
    """Which of the inputs of Table 2 a solver gets."""

    auxiliary: bool = True  # the depth-shaded view, now and in the history
    history: bool = True  # earlier panels, actions and reasoning texts

    @property
    def name(self) -> str:
        """The name of the condition in CONDITIONS."""
        return next(name for name, condition in CONDITIONS.items() if condition == self)


# By name, in the order of Table 2.
CONDITIONS = {
    "full": Condition(),
    "no_auxiliary": Condition(auxiliary=False),
    "no_history": Condition(history=False),
    "neither": Condition(auxiliary=False, history=False),
}


# Compared by identity: a panel and a turn are made once, and many questions refer to them.
@dataclasses.dataclass(frozen=True, eq=False)
class Panel:
    """The pictures of a turn side by side as an RGB PNG, lossless, and its hash, the name it is stored under."""

    png: bytes
    sha256: str


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """An earlier turn: the panel before the action, the action, and the text that the solver gave with it."""

    panel: Panel
    action: str  # a direction, or STOP
    angle: int  # degrees; 0 for STOP
    text: str  # the answer's "cot"


class Journal:
    """What was answered to a question so far: a solver that asks a model adds every answer before it acts on it.

    This one keeps them in memory. A run's own puts each on the disk before `add` returns, and gives the answers of an
    earlier, killed run back as `earlier`, so that they are not asked for again.
    """

    def __init__(self, earlier: Sequence[dict] = ()):
        self.earlier = tuple(earlier)  # oldest first
        self.added: list[dict] = []

    async def add(self, answer: dict) -> None:
        """Keep an answer, an object of JSON values."""
        self.added.append(answer)


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """One decision that is asked for."""

    episode: str  # opaque, the same at every turn of an episode, another for every other episode of a run
    turn: int  # from 0
    seed: int
    target: Bool[np.ndarray, "H W"]
    view: UInt8[np.ndarray, "H W"] | None  # None where the condition has no auxiliary view
    current: Bool[np.ndarray, "H W"]
    panel: Panel
    history: tuple[Turn, ...]  # oldest first; empty where the condition has no history
    condition: Condition = CONDITIONS["full"]
    max_decisions: int = 48
    journal: Journal = dataclasses.field(default_factory=Journal)
