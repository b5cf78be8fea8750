"""The pose-guided beam search of Appendix H (Equation 12)."""

import numpy as np

from rotajax.env.actions import ROTATIONS
from rotajax.geometry.quaternion import from_matrix, multiply
from rotajax.geometry.rotation import ANGLES, DIRECTIONS, MATRICES
from rotajax.search.ground import Ground, first_verified

WIDTH = 256
# Two orientations of the beam closer than this in every quaternion component (about 2 degrees) count as one.
DIVERSITY = 0.02


def beam_search(ground: Ground, longest: int, *, width: int = WIDTH) -> list[int] | None:
    """Return the first verified path of a beam of `width` with at most `longest` rotations, or None.

    A path is extended by six candidates: for each signed direction the allowed angle that leaves the smallest pose
    error. Kept are the `width` closest to a target pose, at most one an orientation cell; all kept are tried.
    """
    letters = from_matrix(MATRICES.astype(np.float64))
    words, paths = np.array([[1.0, 0, 0, 0]]), np.zeros((1, 0), np.int32)
    for _ in range(longest):
        q = multiply(letters[None], words[:, None])  # [kept, A, 4]
        closeness = _closeness(multiply(q, ground.start), ground.group)
        grid = closeness.reshape(len(words), len(DIRECTIONS), len(ANGLES))
        action = np.arange(len(DIRECTIONS)) * len(ANGLES) + grid.argmax(axis=2)  # [kept, 6]
        origin = np.repeat(np.arange(len(words)), len(DIRECTIONS))
        chosen = origin * ROTATIONS + action.ravel()
        order = _diverse(q.reshape(-1, 4)[chosen], closeness.ravel()[chosen])[:width]
        words, paths = (
            q.reshape(-1, 4)[chosen[order]],
            np.concatenate([paths[origin[order]], action.ravel()[order, None].astype(np.int32)], axis=1),
        )
        found = first_verified(ground, words, ground.promising(words), lambda i, p=paths: p[i].tolist())
        if found is not None:
            return paths[found[0]].tolist()
    return None


def _closeness(q: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the cosine of half the pose error: the largest |<q, S>| over the group."""
    return np.abs(q @ group.T).max(axis=-1)


def _diverse(q: np.ndarray, closeness: np.ndarray) -> np.ndarray:
    """Return indices, the closest first, of the closest in every orientation cell."""
    q = np.where(q[:, :1] < 0, -q, q)
    cells = np.rint(q / DIVERSITY).astype(np.int64)
    order = np.argsort(-closeness, kind="stable")
    _, first = np.unique(cells[order], axis=0, return_index=True)
    return order[np.sort(first)]
