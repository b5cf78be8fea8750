"""The vocabulary of the game: 24 rotations and STOP, their indices and their inverses."""

from typing import NamedTuple

import numpy as np

from rotajax.checks import require, require_member
from rotajax.geometry.rotation import ANGLES, DIRECTIONS


class Action(NamedTuple):
    """A signed direction and an angle in degrees; STOP has angle 0."""

    direction: str
    angle: int


# Rotation 4 * direction + angle, then STOP.
ACTIONS = (*(Action(direction, angle) for direction in DIRECTIONS for angle in ANGLES), Action("STOP", 0))
ROTATIONS = 24
STOP = 24
# The action that undoes each action: the other sign of the same axis by the same angle.
INVERSE = np.array([4 * ((i // 4) ^ 1) + i % 4 for i in range(ROTATIONS)] + [STOP], np.int32)


def action_index(direction: str, angle: int = 0) -> int:
    """Return the index of an action. Raises ValueError for a direction or an angle that is not in the vocabulary.

    >>> action_index("YAW_POS", 30)
    11
    """
    require_member(direction, (*DIRECTIONS, "STOP"), "action: direction")
    if direction == "STOP":
        return STOP
    require(angle in ANGLES, "action: angle", f"one of {ANGLES} degrees", repr(angle))
    return ACTIONS.index(Action(direction, int(angle)))
