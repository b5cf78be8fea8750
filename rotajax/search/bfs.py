"""The breadth-first search over 30-degree rotations of Appendix H (Equation 13)."""

from dataclasses import dataclass

from rotajax.env.actions import action_index
from rotajax.geometry.rotation import DIRECTIONS
from rotajax.search.ground import Ground, first_verified
from rotajax.search.words import words

TURNS = tuple(action_index(direction, 30) for direction in DIRECTIONS)
# 345,450 states: the deepest level whose table is made in under a second.
DEEPEST = 8


@dataclass(frozen=True)
class Breadth:
    """`path` of the first verified goal, or None; every depth up to `exhausted` holds no goal."""

    path: list[int] | None
    exhausted: int


def breadth_first(ground: Ground, longest: int, *, deepest: int = DEEPEST) -> Breadth:
    """Return the first verified path of 30-degree turns, level by level up to `longest` or the limit `deepest`.

    The states of a level are the same words for every task; those that the goal map rules out are not drawn.
    """
    table = words(deepest, TURNS)
    last = min(longest, deepest)
    for depth in range(1, last + 1):
        level = table.level(depth)
        q = table.q[level]
        first = level.start
        found = first_verified(ground, q, ground.promising(q), lambda i, f=first: table.word(f + i))
        if found is not None:
            return Breadth(table.word(first + found[0]), depth - 1)
    return Breadth(None, last)
