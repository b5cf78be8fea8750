"""The shortest path over all 24 rotations, with a proof: every shorter word is ruled out by the goal map or drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import numpy as np
from scipy.spatial import KDTree

from rotajax.geometry.quaternion import inverse, multiply
from rotajax.search.goalmap import goal_poses
from rotajax.search.ground import MAP_MARGIN, Ground, first_verified
from rotajax.search.words import fingerprints, words
from rotajax.tasks.starts import SUCCESS_IOU

# Words up to this length are looked up one by one; longer ones are put together from two halves that meet.
DIRECT = 4
# Goal cells are covered by balls of this radius in degrees; a cell's corner is at most CELL degrees from its centre.
BALL, CELL = 6.0, 3.05
# What a length may need before the search says that it cannot prove more: halves to look for, pairs of halves that
# meet, poses to draw. Together a few seconds on a CPU core.
HALVES, PAIRS, DRAWN = 200_000, 1_000_000, 16_000


@dataclass(frozen=True)
class Shortest:
    """`path` is the shortest path found, or None; no path is shorter than `lower_bound`."""

    path: list[int] | None
    lower_bound: int

    @property
    def proved(self) -> bool:
        """Whether no shorter path exists."""
        return self.path is not None and len(self.path) == self.lower_bound


def shortest_path(ground: Ground, longest: int) -> Shortest:
    """Return the shortest verified path of at most `longest` rotations, and the length below which none exists.

    All words of length 1, 2, ... are taken in turn; a path found while some of its length were left untried is shortest
    all the same, for every shorter word was tried. The bound rests on the goal map
    being an upper bound and on the span margin, both measured (benchmarks/margin.py), not derived.
    """
    last = min(longest, 2 * DIRECT)
    balls = None
    for depth in range(1, last + 1):
        if depth <= DIRECT:
            path, complete = _look_up(ground, depth)
        else:
            balls = _cover(goal_poses(ground.goals, SUCCESS_IOU - MAP_MARGIN)) if balls is None else balls
            pairs = _meet(ground, balls, depth - depth // 2, depth // 2)
            if pairs is not None:
                path, complete = _put_together(ground, *pairs)
            elif depth == DIRECT + 1:  # a large goal: there is memory for the words of one more length
                path, complete = _look_up(ground, depth)
            else:
                path, complete = None, False
        if path is not None or not complete:
            return Shortest(path, depth)
    return Shortest(None, last + 1)


def _look_up(ground: Ground, length: int) -> tuple[list[int] | None, bool]:
    """Return the first verified word of a length, and whether all of them were tried."""
    table = words(max(length, DIRECT))
    first = table.first[length]
    return _draw(ground, table.q[table.level(length)], lambda i: table.word(first + i))


def _put_together(ground: Ground, early: np.ndarray, late: np.ndarray) -> tuple[list[int] | None, bool]:
    """Return the first verified word of those that pairs of words make, and whether all of them were tried."""
    table = words(DIRECT)
    q = multiply(table.q[late], table.q[early])
    return _draw(ground, q, lambda i: table.word(int(early[i])) + table.word(int(late[i])))


def _draw(ground: Ground, q: np.ndarray, word_of: Callable[[int], list[int]]) -> tuple[list[int] | None, bool]:
    """Return the word of the first rotation that is verified, best estimates first, and whether all were tried."""
    order = ground.promising(q)
    _, first = np.unique(fingerprints(q[order]), return_index=True)
    order = order[np.sort(first)]
    found = first_verified(ground, q, order[:DRAWN], word_of)
    return (None if found is None else word_of(found[0])), len(order) <= DRAWN


def _cover(q: np.ndarray) -> np.ndarray:
    """Return some of the rotations, Float[n, 4], such that every one is within BALL degrees of one of them."""
    least = np.cos(np.deg2rad(BALL) / 2)
    centres = []
    while len(q):
        centres.append(q[0])
        q = q[np.abs(q @ q[0]) < least]
    return np.array(centres).reshape(-1, 4)


def _meet(ground: Ground, balls: np.ndarray, early: int, late: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the pairs of word rows (executed first, executed last) of two lengths that lead near a goal cell.

    late early start is in a ball of centre g just where early is near late^-1 g start^-1. None if there are too many.
    """
    table = words(DIRECT)
    rows = np.arange(table.first[late], table.first[late + 1], dtype=np.int32)
    if len(rows) * len(balls) > HALVES:
        return None
    wanted = multiply(multiply(inverse(table.q[rows])[:, None], balls[None]), inverse(ground.start)).reshape(-1, 4)
    offset, tree = _tree(early)
    chord, workers = 2 * np.sin(np.deg2rad(BALL + CELL) / 4), jax.local_device_count()  # a CPU device is a core
    counts = tree.query_ball_point(wanted, chord, return_length=True, workers=workers)
    if counts.sum() > PAIRS:
        return None
    near = tree.query_ball_point(wanted[counts > 0], chord, workers=workers)
    first = (np.concatenate([*near, np.zeros(0)]).astype(np.int64) // 2 + offset).astype(np.int32)
    last = np.repeat(np.repeat(rows, len(balls)), counts)
    unique = np.unique(np.stack([first, last], axis=1), axis=0) if len(first) else np.zeros((0, 2), np.int32)
    return unique[:, 0], unique[:, 1]


@cache
def _tree(length: int) -> tuple[int, KDTree]:
    """Return the first row of the words of a length and a tree of their rotations, each as q and as -q."""
    table = words(DIRECT)
    q = table.q[table.level(length)]
    return table.first[length], KDTree(np.stack([q, -q], axis=1).reshape(-1, 4))
