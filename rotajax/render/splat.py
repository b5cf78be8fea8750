"""The exact silhouette of Appendix G: every sampled point marks a disk, then one closing."""

import jax.numpy as jnp

from rotajax.geometry.solid import Points, Solid
from rotajax.render.camera import PADDED, SCALE, cloud_sample, crop, mark_index, pixel, rotated
from rotajax.render.morphology import close_cross, dilate_disk
from rotajax.render.stream import Sample, fold_samples
from rotajax.types import Array, Mask, Rotation


def splat(shape: Solid | Points, R: Rotation) -> Mask:
    """Return the exact silhouette, Bool[320, 320], of a solid (streamed) or of its points under a pose.

    u = rint(160 + 5 x), v = rint(160 + 5 y) in float32, half to even, a 2-pixel disk a point, one 3 x 3 closing.
    Marking one pixel a point and dilating once gives the same set as marking the disks.

    >>> import numpy as np
    >>> from rotajax.geometry.solid import make_solid
    >>> int(splat(make_solid(np.zeros((1, 2)), 0), np.eye(3, dtype=np.float32)).sum())
    13
    """

    def mark(marks: Array, sample: Sample) -> Array:
        x, y, z, valid = sample
        u, v = pixel(rotated(R, 0, x, y, z), SCALE), pixel(rotated(R, 1, x, y, z), SCALE)
        return marks.at[mark_index(u, v, valid, inside=inside)].set(jnp.uint8(1), mode="promise_in_bounds")

    R = jnp.asarray(R)
    inside = not isinstance(shape, Points)
    empty = jnp.zeros(PADDED * PADDED + 1, jnp.uint8)
    if isinstance(shape, Points):
        marks = mark(empty, cloud_sample(shape))
    else:
        marks = fold_samples(shape, empty, mark)
    return close_cross(crop(dilate_disk(marks[:-1].reshape(PADDED, PADDED) != 0)))
