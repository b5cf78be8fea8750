"""Dilation and closing of masks and of grey pictures by the small shapes of Appendix G."""

import functools

import jax.numpy as jnp
from jax import lax

from rotajax.types import Array, Int32, Mask

# Offsets (dv, du) of the disk du^2 + dv^2 <= 4 and of OpenCV's 3 x 3 ellipse, which is a cross.
DISK = tuple((dv, du) for dv in range(-2, 3) for du in range(-2, 3) if du * du + dv * dv <= 4)
CROSS = ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0))


def _shifted(picture: Array, offsets: tuple[tuple[int, int], ...], outside: bool) -> list[Array]:
    """Return the mask moved by every offset, with a constant outside its borders."""
    height, width = picture.shape
    padded = jnp.pad(picture, 2, constant_values=outside)
    return [padded[2 + dv : 2 + dv + height, 2 + du : 2 + du + width] for dv, du in offsets]


def _any(pictures: list[Array]) -> Array:
    total = pictures[0]
    for picture in pictures[1:]:
        total = total | picture
    return total


def dilate_disk(mask: Mask) -> Mask:
    """Return the mask with a 13-pixel disk at every set pixel."""
    return _any(_shifted(mask, DISK, False))


def close_cross(mask: Mask) -> Mask:
    """Return the closing of the mask with the 3 x 3 cross; the outside never erodes the border."""
    grown = _any(_shifted(mask, CROSS, False))
    return ~_any(_shifted(~grown, CROSS, False))


def dilate_grey(framed: Int32[Array, "H4 W4"]) -> Int32[Array, "H W"]:
    """Return the largest brightness - floor(2.2 d) over the disk, d the distance to its centre in pixels.

    The marks come with a margin of two pixels, where they count too; the result has none.
    """
    height, width = framed.shape[0] - 4, framed.shape[1] - 4
    lost = [int(2.2 * (dv * dv + du * du) ** 0.5) for dv, du in DISK]
    moved = [framed[2 + dv : 2 + dv + height, 2 + du : 2 + du + width] for dv, du in DISK]
    return functools.reduce(jnp.maximum, (m - jnp.int32(fall) for m, fall in zip(moved, lost, strict=True)))


def smooth(grey: Int32[Array, "H W"]) -> Int32[Array, "H W"]:
    """Return one Gaussian pass, weights [1 2 1] / 4 a side, rounded half up; borders reflect without the edge.

    The barriers keep a compiler from computing every step anew for each of its neighbours: 20 times as slow.
    """
    for axis in (0, 1):
        margin = [(1, 1) if a == axis else (0, 0) for a in (0, 1)]
        padded = lax.optimization_barrier(jnp.pad(lax.optimization_barrier(grey), margin, mode="reflect"))
        length = grey.shape[axis]
        before, at, after = (lax.slice_in_dim(padded, k, k + length, axis=axis) for k in range(3))
        grey = before + jnp.int32(2) * at + after
    return (grey + jnp.int32(8)) >> jnp.int32(4)
