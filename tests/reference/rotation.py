"""The 24 rotations of section 3.2, angles between rotations, and the pose error of equation 6, in float64."""

import math

import numpy as np

DIRECTIONS = ("PITCH_POS", "PITCH_NEG", "YAW_POS", "YAW_NEG", "ROLL_POS", "ROLL_NEG")
ANGLES = (1, 5, 10, 30)
STOP = 24


def matrix(direction: str, angle_deg: float) -> np.ndarray:
    """Q of a turn seen by the camera: x right, y down, z to the viewer; the front goes up, right, or clockwise."""
    axis, sign = direction.split("_")
    turn = math.radians(angle_deg) * (1 if sign == "POS" else -1)
    c, s = math.cos(turn), math.sin(turn)
    if axis == "PITCH":
        return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    if axis == "YAW":
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


MATRICES = np.stack([matrix(direction, angle) for direction in DIRECTIONS for angle in ANGLES])


def apply(pose: np.ndarray, action: int) -> np.ndarray:
    """R[t+1] = Q(a) R[t] (equation 2)."""
    return MATRICES[action] @ pose


def inverse(action: int) -> int:
    """The action that undoes a rotation: the same angle in the opposite direction."""
    direction, angle = divmod(action, 4)
    return 4 * (direction ^ 1) + angle


def angle_arccos_deg(a: np.ndarray, b: np.ndarray) -> float:
    """The angle between two rotations as equation 6 writes it, clipped to [-1, 1], in degrees."""
    cosine = (np.trace(np.asarray(a, np.float64) @ np.asarray(b, np.float64).T) - 1.0) / 2.0
    return math.degrees(math.acos(min(1.0, max(-1.0, cosine))))


def angle_deg(a: np.ndarray, b: np.ndarray) -> float:
    """The same angle from its sine and its cosine, which keeps its digits near 0 and 180 degrees."""
    m = np.asarray(a, np.float64) @ np.asarray(b, np.float64).T
    twice_sine = math.hypot(m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])
    return math.degrees(math.atan2(twice_sine, np.trace(m) - 1.0))


def pose_error_deg(pose: np.ndarray, group: np.ndarray) -> float:
    """The smallest angle from the pose to a symmetry of the object (the target pose is the identity), in degrees."""
    return min(angle_deg(pose, element) for element in group)


def symmetry_group(order: int, mirror_angle_deg: float | None) -> np.ndarray:
    """The rotations S(Q) of Appendix D, float64 [G, 3, 3]: turns by 360 k / order, and Rot(alpha) diag(1, -1)."""
    turns = [360.0 * k / order for k in range(order)]
    planar = [matrix("ROLL_POS", turn)[:2, :2] for turn in turns]
    if mirror_angle_deg is not None:
        planar += [matrix("ROLL_POS", mirror_angle_deg + turn)[:2, :2] @ np.diag([1.0, -1.0]) for turn in turns]
    group = np.zeros((len(planar), 3, 3))
    for lifted, flat in zip(group, planar, strict=True):
        lifted[:2, :2] = flat
        lifted[2, 2] = round(float(np.linalg.det(flat)))
    return group
