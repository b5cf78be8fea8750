"""`decompose`: every rotation of a batch split into direction and angle (section 3.4), in float64 on the host.

Float32 cannot decide this: an error near 90 degrees is then known to 1e-5 only, as much as two successors may differ.
A rotation is a unit quaternion here, so that the error over a group is one product of small matrices: 200,000 steps
take about a second.
"""

import dataclasses

import numpy as np

from rotajax.checks import require
from rotajax.env.actions import ROTATIONS
from rotajax.geometry.quaternion import from_matrix, multiply
from rotajax.geometry.rotation import ANGLES, DIRECTIONS

# Errors closer than this, in degrees, are equal. A recorded pose is float32: its error was seen up to 1.8e-5 degrees
# off that of the exact pose, so a tie cannot be seen more sharply. Ties are real: 30 degrees of roll are a symmetry of
# a solid of order 12, and a comparison without tolerance calls half of them a reduction. No other step of 12,000
# played ones was decided differently.
TOLERANCE_DEG = 2e-5
CHUNK = 4096  # steps at a time: bounds the memory, 80 MB for 24 successors and 24 symmetries


@dataclasses.dataclass(frozen=True)
class Decomposition:
    """The direction and the angle of N rotations against the pose error."""

    effective: np.ndarray  # bool [N], a legal angle of the chosen direction reduces the pose error
    best_legal: np.ndarray  # bool [N], the chosen angle is a best one; False where the direction is not effective
    angle_gap: np.ndarray  # float64 [N], degrees to the nearest best angle; NaN where the direction is not effective
    angle_loss: np.ndarray  # float64 [N], degrees of pose error given away; NaN where it is not effective
    improving: np.ndarray  # bool [N], the rotation itself reduced the pose error
    error_before: np.ndarray  # float64 [N], degrees
    error_after: np.ndarray  # float64 [N], degrees


def decompose(rotation: np.ndarray, action: np.ndarray, task: np.ndarray, groups: np.ndarray) -> Decomposition:
    """Return the decomposition of N rotations.

    rotation: [N, 3, 3], the poses before; action: int [N], [0, 24), no STOP; task: int [N], rows of `groups`;
    groups: [T, G, 3, 3]. Source: section 3.4; equal means within TOLERANCE_DEG, a reduction is by more than that.
    Raises ValueError for an action that is not a rotation.
    """
    action = np.asarray(action)
    rotations = bool(((action >= 0) & (action < ROTATIONS)).all())
    require(rotations, "decompose: actions", f"rotations, 0 to {ROTATIONS - 1}", "another one")
    before, after = np.empty(len(action)), np.empty((len(action), len(ANGLES)))
    for index in np.unique(task):
        targets = target_quaternions(groups[index])
        rows = np.flatnonzero(task == index)
        for part in np.array_split(rows, -(-len(rows) // CHUNK)):
            pose = from_matrix(rotation[part])
            before[part] = errors_deg(pose, targets)
            turned = multiply(TURNS[action[part] // len(ANGLES)], pose[:, None])
            after[part] = errors_deg(turned, targets)
    return _compare(before, after, action % len(ANGLES))


def _compare(before: np.ndarray, after: np.ndarray, chosen: np.ndarray) -> Decomposition:
    """Return the decomposition from the errors before, [N], and after each legal angle, [N, 4]."""
    angles = np.array(ANGLES, np.float64)
    least = after.min(axis=1)
    taken = np.take_along_axis(after, chosen[:, None], axis=1)[:, 0]
    effective = least < before - TOLERANCE_DEG
    best = after <= least[:, None] + TOLERANCE_DEG
    gap = np.where(best, np.abs(angles[chosen][:, None] - angles), np.inf).min(axis=1)
    return Decomposition(
        effective=effective,
        best_legal=effective & np.take_along_axis(best, chosen[:, None], axis=1)[:, 0],
        angle_gap=np.where(effective, gap, np.nan),
        angle_loss=np.where(effective, taken - least, np.nan),
        improving=taken < before - TOLERANCE_DEG,
        error_before=before,
        error_after=taken,
    )


def target_quaternions(group: np.ndarray) -> np.ndarray:
    """Return the quaternions of a group [G, 3, 3] without the identities that pad it: most solids have one symmetry."""
    padding = (group == np.eye(3)).all(axis=(1, 2))
    padding[0] = False
    return from_matrix(group[~padding])


def errors_deg(pose: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the smallest angle in degrees, [0, 180], from each quaternion [..., 4] to the targets [G, 4] (Equation 6).

    From the chord to the nearest target, 2 sin(angle / 4), which keeps its digits from 0 to 180 degrees.
    """
    cosine = pose @ targets.T
    nearest = np.abs(cosine).argmax(axis=-1)
    sign = np.where(np.take_along_axis(cosine, nearest[..., None], axis=-1) < 0, -1.0, 1.0)
    chord = np.linalg.norm(pose - sign * targets[nearest], axis=-1)
    return np.degrees(4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0)))


def _turns() -> np.ndarray:
    """Return the exact quaternions of the 24 rotations, [6, 4, 4]."""
    half = np.radians(np.array(ANGLES, np.float64)) / 2.0
    turns = np.zeros((len(DIRECTIONS), len(ANGLES), 4))
    turns[:, :, 0] = np.cos(half)
    for index in range(len(DIRECTIONS)):
        turns[index, :, 1 + index // 2] = np.sin(half) * (1 if index % 2 == 0 else -1)
    return turns


TURNS = _turns()
