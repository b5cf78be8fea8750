"""`state_numbers`: which rotations were taken at the same pose of the same task (K.6)."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree  # pyright: ignore[reportAttributeAccessIssue]

from rotajax.analysis.decomposition import TURNS
from rotajax.analysis.method import Method, Steps
from rotajax.env.actions import ROTATIONS
from rotajax.geometry.quaternion import from_matrix, multiply

SAME_POSE_DEG = 1e-4


def state_numbers(methods: Sequence[Method], tasks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return a number a rotation for each method, int64 [N]: equal where task and pose before are; -1 elsewhere.

    tasks: for each method the rows of its tasks that are compared, in the same order. Poses closer than 1e-4 degrees
    are one state.
    """
    found = [np.full(len(method.steps), -1, np.int64) for method in methods]
    poses = [exact_poses(method.steps) for method in methods]
    number = 0
    for rows in zip(*tasks, strict=True):
        chosen = [np.flatnonzero(method.steps.task == row) for method, row in zip(methods, rows, strict=True)]
        groups = _groups(np.concatenate([pose[steps] for pose, steps in zip(poses, chosen, strict=True)]))
        parts = np.split(groups + number, np.cumsum([len(steps) for steps in chosen])[:-1])
        for column, steps, part in zip(found, chosen, parts, strict=True):
            column[steps] = part
        number += 2 * len(groups)
    return found


def exact_poses(steps: Steps) -> np.ndarray:
    """Return the pose before each rotation as a quaternion, float64 [N, 4], replayed from the start of its episode.

    The recorded poses are float32: after 48 rotations two ways to one pose may differ by more than 1e-4 degrees.
    """
    poses = from_matrix(steps.rotation)
    turns = TURNS.reshape(ROTATIONS, 4)
    for t in range(1, int(steps.t.max(initial=0)) + 1):
        rows = np.flatnonzero(steps.t == t)
        poses[rows] = multiply(turns[steps.action[rows - 1]], poses[rows - 1])
    return poses


def _groups(poses: np.ndarray) -> np.ndarray:
    """Return the number of the state of each quaternion [N, 4]; q and -q are one rotation."""
    count = len(poses)
    if count == 0:
        return np.zeros(0, np.int64)
    reach = 2.0 * np.sin(np.radians(SAME_POSE_DEG) / 4.0)  # the chord between two quaternions that far apart
    pairs = cKDTree(np.concatenate([poses, -poses])).query_pairs(reach, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(2 * count, 2 * count))
    part = connected_components(links, directed=False)[1]
    # A rotation's two signs lie in two components: the smaller number names both.
    return np.minimum(part[:count], part[count:]).astype(np.int64)
