"""Rotations as unit quaternions (w, x, y, z) in NumPy, for tables of millions of them."""

import numpy as np


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products a b, Float[..., 4]: the rotation b, then a."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def inverse(q: np.ndarray) -> np.ndarray:
    """Return the inverse rotations."""
    return q * np.array([1, -1, -1, -1], q.dtype)


def to_matrix(q: np.ndarray) -> np.ndarray:
    """Return the rotation matrices, Float32[..., 3, 3], computed in float64."""
    w, x, y, z = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2).astype(np.float32)


def from_matrix(matrix: np.ndarray) -> np.ndarray:
    """Return the unit quaternions, Float64[..., 4] with w >= 0, of rotation matrices."""
    m = np.asarray(matrix, np.float64)
    d = np.diagonal(m, axis1=-2, axis2=-1)
    trace = d.sum(-1)
    # Four times the products of each pair of components; the row with the largest square is the accurate one.
    table = np.empty((*m.shape[:-2], 4, 4))
    table[..., 0, 0] = 1 + trace
    for i in range(3):
        table[..., i + 1, i + 1] = 1 - trace + 2 * d[..., i]
        j, k = (i + 1) % 3, (i + 2) % 3
        table[..., 0, i + 1] = table[..., i + 1, 0] = m[..., k, j] - m[..., j, k]
        table[..., j + 1, k + 1] = table[..., k + 1, j + 1] = m[..., j, k] + m[..., k, j]
    best = np.argmax(np.diagonal(table, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(table, best[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0, -q, q)


def angle_deg(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the angles in degrees, [0, 180], between rotations; exact near 0 (chord, not arccosine)."""
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.rad2deg(4 * np.arcsin(np.minimum(chord / 2, 1)))
