"""The exact silhouette of Appendix G: every sampled point marks a disk, then one closing."""

from collections.abc import Callable

import jax.numpy as jnp

from rotajax.geometry.solid import Points, Solid
from rotajax.render import morphology, packed
from rotajax.render.camera import PADDED, SCALE, SIZE, as_pose, cloud_sample, crop, mark_index, pixel, rotated, within
from rotajax.render.skeleton import Skeleton
from rotajax.render.stream import Chosen, Sample, fold_samples
from rotajax.types import Array, Mask, Rotation, UInt8, UInt32

WORDS = SIZE // packed.WORD


def splat(shape: Solid | Points, R: Rotation) -> Mask:
    """Return the exact silhouette, Bool[320, 320], of a solid (streamed) or of its points under a pose.

    u = rint(160 + 5 x), v = rint(160 + 5 y) in float32, half to even, a 2-pixel disk a point, one 3 x 3 closing.
    Marking one pixel a point and dilating once gives the same set as marking the disks.

    >>> import numpy as np
    >>> from rotajax.geometry.solid import make_solid
    >>> int(splat(make_solid(np.zeros((1, 2)), 0), np.eye(3, dtype=np.float32)).sum())
    13
    """
    if isinstance(shape, Points):
        return _splat_cloud(shape, as_pose(R))
    return packed.unpack(splat_packed(shape, R))


def splat_packed(columns: Solid | Skeleton, R: Rotation) -> UInt32[Array, "320 10"]:
    """Return the silhouette of `splat` in packed form; of a skeleton the part of it that its columns' samples mark."""
    return packed.close_cross(disks(columns, R)).T


def disks(columns: Solid | Skeleton | Chosen, R: Rotation) -> UInt32[Array, "10 320"]:
    """Return the union of the disks of every sample of the columns, packed and upright: `splat` before its closing."""
    step = marker(as_pose(R))
    return disks_at(fold_samples(columns, no_marks(), step))


def no_marks() -> UInt8[Array, "102401"]:
    """Return a byte for each pixel, and one for what is not to be marked, all 0."""
    return jnp.zeros(SIZE * SIZE + 1, jnp.uint8)


def marker(R: Rotation) -> Callable[[Array, Sample], Array]:
    """Return the step of a fold over samples that marks the pixel of each under a pose."""

    def mark(marks: Array, sample: Sample) -> Array:
        x, y, z, valid = sample
        u, v = pixel(rotated(R, 0, x, y, z), SCALE), pixel(rotated(R, 1, x, y, z), SCALE)
        # A solid stays in the picture, for the bounding sphere does. Bit, word, row: packing then has long lanes.
        index = ((u & 31) * WORDS + (u >> 5)) * SIZE + v
        index = within(jnp.where(valid, index, SIZE * SIZE), SIZE * SIZE + 1)
        return marks.at[index].set(jnp.uint8(1), mode="promise_in_bounds")

    return mark


def disks_at(marks: UInt8[Array, "102401"]) -> UInt32[Array, "10 320"]:
    """Return the union of the disks at all marks, packed and upright."""
    return packed.dilate_disk(packed.pack_marks(marks, SIZE))


def _splat_cloud(points: Points, R: Rotation) -> Mask:
    """Return the silhouette of any cloud of points; those outside the picture may still mark pixels inside."""
    x, y, z, valid = cloud_sample(points)
    u, v = pixel(rotated(R, 0, x, y, z), SCALE), pixel(rotated(R, 1, x, y, z), SCALE)
    marks = jnp.zeros(PADDED * PADDED + 1, jnp.uint8)
    marks = marks.at[mark_index(u, v, valid, inside=False)].set(jnp.uint8(1), mode="promise_in_bounds")
    disks = morphology.dilate_disk(marks[:-1].reshape(PADDED, PADDED) != 0)
    return morphology.close_cross(crop(disks))
