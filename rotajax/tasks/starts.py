"""Reversible starts: sequences of 30-degree turns and the poses they lead to (section 3.3)."""

import hashlib

import numpy as np

from rotajax.geometry.rotation import DIRECTIONS, rotation

SHORTEST, LONGEST = 6, 16
TURN_DEG = 30.0
# Silhouettes that overlap so far count as aligned.
SUCCESS_IOU = 0.90


def opposite(direction: str) -> str:
    """Return the direction that undoes a direction."""
    return DIRECTIONS[DIRECTIONS.index(direction) ^ 1]


def draw_sequence(seed: int, attempt: int) -> list[str]:
    """Return 6 to 16 directions, each uniform among those that do not undo the one before.

    The draws are SHA-256 of (seed, attempt, position): no library's random stream, so the same in every version.
    """
    length = SHORTEST + _draw(seed, attempt, 0, LONGEST - SHORTEST + 1)
    sequence: list[str] = []
    for position in range(length):
        allowed = [d for d in DIRECTIONS if not sequence or d != opposite(sequence[-1])]
        sequence.append(allowed[_draw(seed, attempt, position + 1, len(allowed))])
    return sequence


def _draw(seed: int, attempt: int, position: int, choices: int) -> int:
    digest = hashlib.sha256(f"rotajax.start/1 {seed} {attempt} {position}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % choices


def start_pose(sequence: list[str]) -> np.ndarray:
    """Return the pose Q(b_L) ... Q(b_1), Float32[3, 3], multiplied in float64."""
    pose = np.eye(3)
    for direction in sequence:
        pose = rotation(direction, TURN_DEG, dtype=np.float64) @ pose
    return pose.astype(np.float32)


def inverse_path(sequence: list[str]) -> list[tuple[str, int]]:
    """Return the actions that lead from the start back to the target: every turn undone, last first."""
    return [(opposite(direction), int(TURN_DEG)) for direction in reversed(sequence)]
