"""The shortest path over all 24 rotations, with a proof: every shorter word is ruled out by the goal map or drawn."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial import cKDTree

from rotajax.search.goalmap import goal_poses
from rotajax.search.ground import MAP_MARGIN, Ground, first_verified
from rotajax.search.quaternion import inverse, multiply
from rotajax.search.words import words
from rotajax.tasks.starts import SUCCESS_IOU

# Words up to this length are looked up one by one; longer ones are put together from two halves that meet.
DIRECT = 4
# Goal cells are covered by balls of this radius in degrees; a cell's corner is at most CELL degrees from its centre.
BALL, CELL = 6.0, 3.0
# Pairs of halves a depth may need before the search says that it cannot prove more.
PAIRS = 20_000_000


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

    All words of length 1, 2, ... are taken in turn, so the first success is shortest. The bound rests on the goal map
    being an upper bound and on the span margin, both measured (benchmarks/margin.py), not derived.
    """
    table = words(DIRECT)
    for depth in range(1, min(longest, DIRECT) + 1):
        level = table.level(depth)
        q, first = table.q[level], level.start
        found = first_verified(ground, q, ground.promising(q), lambda i, f=first: table.word(f + i))
        if found is not None:
            return Shortest(table.word(first + found[0]), depth)
    balls = None
    for depth in range(DIRECT + 1, min(longest, 2 * DIRECT) + 1):
        balls = _cover(goal_poses(ground.goals, SUCCESS_IOU - MAP_MARGIN)) if balls is None else balls
        pairs = _meet(ground, balls, depth - depth // 2, depth // 2)
        if pairs is None:
            return Shortest(None, depth)
        early, late = pairs
        q = multiply(table.q[late], table.q[early])
        found = first_verified(
            ground, q, ground.promising(q), lambda i, a=early, b=late: table.word(a[i]) + table.word(b[i])
        )
        if found is not None:
            index = found[0]
            return Shortest(table.word(early[index]) + table.word(late[index]), depth)
    return Shortest(None, min(longest, 2 * DIRECT) + 1)


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
    wanted = multiply(multiply(inverse(table.q[rows])[:, None], balls[None]), inverse(ground.start)).reshape(-1, 4)
    offset, tree = _tree(early)
    chord = 2 * np.sin(np.deg2rad(BALL + CELL) / 4)
    counts = tree.query_ball_point(wanted, chord, return_length=True)
    if counts.sum() > PAIRS:
        return None
    near = tree.query_ball_point(wanted[counts > 0], chord)
    first = (np.concatenate([*near, np.zeros(0)]).astype(np.int64) // 2 + offset).astype(np.int32)
    last = np.repeat(np.repeat(rows, len(balls)), counts)
    unique = np.unique(np.stack([first, last], axis=1), axis=0) if len(first) else np.zeros((0, 2), np.int32)
    return unique[:, 0], unique[:, 1]


@cache
def _tree(length: int) -> tuple[int, cKDTree]:
    """Return the first row of the words of a length and a tree of their rotations, each as q and as -q."""
    table = words(DIRECT)
    q = table.q[table.level(length)]
    return table.first[length], cKDTree(np.stack([q, -q], axis=1).reshape(-1, 4))
