"""The orthographic camera that every picture shares (Appendix G, Projection)."""

import jax.numpy as jnp

from rotajax.types import Array, Float32, Int32, Rotation

SIZE = 320
CENTRE = 160.0
SCALE = 5.0
# Marks are kept on a picture with a margin as wide as the disk: a point outside may still mark pixels inside.
MARGIN = 2
PADDED = SIZE + 2 * MARGIN


def rotated(R: Rotation, row: int, x: Array, y: Array, z: Array) -> Float32[Array, "..."]:
    """Return one rotated coordinate, its sum written out: (R[row, 0] x + R[row, 1] y) + R[row, 2] z."""
    return (R[row, 0] * x + R[row, 1] * y) + R[row, 2] * z


def pixel(coordinate: Float32[Array, "..."], scale: float) -> Int32[Array, "..."]:
    """Return the pixel rint(160 + scale * coordinate), half to even, float32."""
    return jnp.rint(jnp.float32(CENTRE) + jnp.float32(scale) * coordinate).astype(jnp.int32)


def mark_index(u: Int32[Array, "..."], v: Int32[Array, "..."], valid: Array) -> Int32[Array, "..."]:
    """Return the flat index of a pixel in the padded picture, or one past its end for what cannot mark it."""
    u, v = u + MARGIN, v + MARGIN
    inside = valid & (u >= 0) & (u < PADDED) & (v >= 0) & (v < PADDED)
    return jnp.where(inside, v * PADDED + u, PADDED * PADDED)


def crop(padded: Array) -> Array:
    """Return the picture without its margin."""
    return padded[MARGIN:-MARGIN, MARGIN:-MARGIN]
