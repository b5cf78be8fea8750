"""Every rotation that words of actions reach, by the length of the shortest word: the same table for every task."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from rotajax.env.actions import ACTIONS, ROTATIONS
from rotajax.geometry.quaternion import from_matrix, multiply
from rotajax.geometry.rotation import rotation

# Rotations closer than this in every quaternion component are one: float64 products of a few actions err by 1e-15.
GRID = 1e-7


@dataclass(frozen=True)
class Words:
    """Distinct rotations in the order of their shortest words' lengths.

    `q` Float64[n, 4]; `parent`, `action` Int32[n]: rotation i is action[i] after rotation parent[i]; those of length d
    are rows first[d] to first[d + 1].
    """

    q: np.ndarray
    parent: np.ndarray
    action: np.ndarray
    first: tuple[int, ...]

    def word(self, index: int) -> list[int]:
        """Return the actions of a rotation's shortest word, the one executed first in front."""
        word = []
        while index > 0:
            word.append(int(self.action[index]))
            index = int(self.parent[index])
        return word[::-1]

    def level(self, length: int) -> slice:
        """Return the rows whose shortest words have a length."""
        return slice(self.first[length], self.first[length + 1])

    @property
    def longest(self) -> int:
        """The largest length in the table."""
        return len(self.first) - 2


@cache
def words(longest: int, actions: tuple[int, ...] = tuple(range(ROTATIONS))) -> Words:
    """Return all distinct rotations of words of up to `longest` of the given actions (Equation 13 for 30 degrees).

    All 24 actions: 25, 487, 9,271, 176,131 and 3,343,487 rotations up to length 1 to 5. The six turns of 30 degrees:
    18,282 up to length 6, 80,166 to 7, 345,450 to 8.
    """
    letters = from_matrix(np.stack([rotation(*ACTIONS[a], dtype=np.float64) for a in actions]))
    q, parent, action = np.array([[1.0, 0, 0, 0]]), np.array([-1], np.int32), np.array([-1], np.int32)
    seen = fingerprints(q)
    first = [0, 1]
    for _ in range(longest):
        start = first[-2]
        front = multiply(letters[:, None], q[None, start:]).reshape(-1, 4)
        hashes, index = np.unique(fingerprints(front), return_index=True)
        index = np.sort(index[~np.isin(hashes, seen, assume_unique=True)])
        letter, origin = np.divmod(index, len(q) - start)
        q = np.concatenate([q, front[index]])
        parent = np.concatenate([parent, (start + origin).astype(np.int32)])
        action = np.concatenate([action, np.asarray(actions, np.int32)[letter]])
        seen = np.concatenate([seen, hashes])
        first.append(len(q))
    return Words(q=q, parent=parent, action=action, first=tuple(first))


def fingerprints(q: np.ndarray) -> np.ndarray:
    """Return one 64-bit hash a rotation, the same for q and -q."""
    cells = np.rint(q / GRID).astype(np.int64)
    leading = (np.abs(cells) > 1).argmax(axis=1)
    cells *= np.sign(cells[np.arange(len(cells)), leading])[:, None]
    hashes = np.zeros(len(q), np.uint64)
    for column in cells.T:
        hashes = (hashes ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes
