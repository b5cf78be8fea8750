"""`successor_errors`: the pose errors of all 24 successors of many poses, in float64 on the host."""

import numpy as np

from rotajax.analysis.decomposition import CHUNK, TURNS, errors_deg, target_quaternions
from rotajax.env.actions import ROTATIONS
from rotajax.geometry.quaternion import from_matrix, multiply


def successor_errors(rotation: np.ndarray, task: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the pose error in degrees after each of the 24 rotations, float64 [N, 24], in the order of ACTIONS.

    rotation: [N, 3, 3], the poses before; task: int [N], rows of `groups`; groups: [T, G, 3, 3].
    """
    found = np.empty((len(rotation), ROTATIONS))
    turns = TURNS.reshape(ROTATIONS, 4)
    for index in np.unique(task):
        targets, rows = target_quaternions(groups[index]), np.flatnonzero(task == index)
        for part in np.array_split(rows, -(-len(rows) // CHUNK)):
            found[part] = errors_deg(multiply(turns, from_matrix(rotation[part])[:, None]), targets)
    return found
