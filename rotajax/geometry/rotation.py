"""The 24 rotations of the game as matrices, and products of rotations by written-out sums.

Frame: x right, y down, z towards the viewer; rotations are active and act on column vectors.
"""

import math

import jax.numpy as jnp
import numpy as np

from rotajax.checks import require, require_member
from rotajax.types import Array, Float32

DIRECTIONS = ("PITCH_POS", "PITCH_NEG", "YAW_POS", "YAW_NEG", "ROLL_POS", "ROLL_NEG")
ANGLES = (1, 5, 10, 30)


def rotation(direction: str, degrees: float, *, dtype: type = np.float32) -> np.ndarray:
    """Return the active rotation, [3, 3] of `dtype`, of a signed direction by an angle in degrees.

    PITCH_POS turns the front up, YAW_POS turns it to the observer's right, ROLL_POS is clockwise on screen
    (section 3.2; prompt of Appendix M). Raises ValueError for an unknown direction or an angle
    that is no finite number.

    >>> rotation("ROLL_POS", 90.0).round().astype(int).tolist()
    [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    """
    require_member(direction, DIRECTIONS, "rotation: direction")
    number = isinstance(degrees, int | float | np.number) and math.isfinite(degrees)
    require(number, "rotation: degrees", "a finite number", repr(degrees))
    axis, sign = direction.split("_")
    angle = math.radians(degrees) * (1 if sign == "POS" else -1)
    c, s = math.cos(angle), math.sin(angle)
    rows = {
        "PITCH": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "YAW": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "ROLL": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis]
    return np.array(rows, dtype)


# Row 4 * direction + angle, in the orders of DIRECTIONS and ANGLES.
MATRICES = np.stack([rotation(direction, angle) for direction in DIRECTIONS for angle in ANGLES])


def compose(left: Float32[Array, "*#B 3 3"], right: Float32[Array, "*#B 3 3"]) -> Float32[Array, "*B 3 3"]:
    """Return left after right, the product of two 3 x 3 matrices, or of many pairs whose leading axes broadcast.

    The sums are written out: a matrix unit may round its inputs to fewer bits, which would move pixels.
    """
    return (left[..., :, 0, None] * right[..., None, 0, :] + left[..., :, 1, None] * right[..., None, 1, :]) + left[
        ..., :, 2, None
    ] * right[..., None, 2, :]


def transpose(matrix: Float32[Array, "*B 3 3"]) -> Float32[Array, "*B 3 3"]:
    """Return the inverse of a rotation, or of each of many."""
    return jnp.swapaxes(matrix, -1, -2)
