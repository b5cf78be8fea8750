"""The orthographic camera that every picture shares (Appendix G, Projection)."""

import jax.numpy as jnp
from jax import lax

from rotajax.checks import require
from rotajax.geometry.solid import Points
from rotajax.types import Array, Bool, Float32, Int32, Rotation, UInt32

SIZE = 320
CENTRE = 160.0
SCALE = 5.0
# Marks are kept on a picture with a margin as wide as the disk: a point outside may still mark pixels inside.
MARGIN = 2
PADDED = SIZE + 2 * MARGIN


def as_pose(R: Rotation) -> Rotation:
    """Return a pose in float32. Raises ValueError unless it is of shape (3, 3); whether it rotates is not checked."""
    R = jnp.asarray(R, jnp.float32)
    require(R.shape == (3, 3), "pose", "a rotation of shape (3, 3)", f"shape {R.shape}")
    return R


def rotated(R: Rotation, row: int, x: Array, y: Array, z: Array) -> Float32[Array, "..."]:
    """Return one rotated coordinate, its sum written out: (R[row, 0] x + R[row, 1] y) + R[row, 2] z."""
    return (R[row, 0] * x + R[row, 1] * y) + R[row, 2] * z


# A float32 plus 1.5 * 2^23 has the first one, rounded half to even, in its low bits. XLA turns neither rint nor the
# conversion to integers into vector instructions on a CPU: with them the exact renderer takes half as long again.
_SHIFT, _SHIFT_BITS = 12582912.0, 0x4B400000


def nearest(value: Float32[Array, "..."]) -> Int32[Array, "..."]:
    """Return rint(value), half to even, for values within 4,000,000; some other integer for any other float32."""
    # Without the barrier XLA would add a constant of `value` to this one first, and round their sum.
    shift = lax.optimization_barrier(jnp.float32(_SHIFT))
    return lax.bitcast_convert_type(value + shift, jnp.int32) - jnp.int32(_SHIFT_BITS)


def pixel(coordinate: Float32[Array, "..."], scale: float) -> Int32[Array, "..."]:
    """Return the pixel rint(160 + scale * coordinate), half to even, float32, for coordinates within 100,000."""
    return nearest(jnp.float32(CENTRE) + jnp.float32(scale) * coordinate)


def within(index: Int32[Array, "..."], size: int) -> UInt32[Array, "..."]:
    """Return indices as they are where a pose is a rotation; inside an array of a size whatever it is, NaN included."""
    return jnp.minimum(index.astype(jnp.uint32), jnp.uint32(size - 1))


def mark_index(
    u: Int32[Array, "..."], v: Int32[Array, "..."], valid: Bool[Array, "..."], *, inside: bool
) -> UInt32[Array, "..."]:
    """Return the flat index of a pixel in the padded picture, or one past its end for what cannot mark it.

    `inside` says that every pixel lies in the picture, as those of a solid do: the bounding sphere does.
    """
    u, v = u + MARGIN, v + MARGIN
    if not inside:
        valid = valid & (u >= 0) & (u < PADDED) & (v >= 0) & (v < PADDED)
    return within(jnp.where(valid, v * PADDED + u, PADDED * PADDED), PADDED * PADDED + 1)


def cloud_sample(points: Points) -> tuple[Array, Array, Array, Array]:
    """Return (x, y, z, valid) of any point cloud, far points moved to where a pixel is still an integer."""
    x, y, z = jnp.clip(points.xyz, jnp.float32(-5e4), jnp.float32(5e4)).T
    return x, y, z, points.valid & jnp.isfinite(points.xyz).all(axis=1)


def crop(padded: Array) -> Array:
    """Return the picture without its margin."""
    return padded[MARGIN:-MARGIN, MARGIN:-MARGIN]
