"""The auxiliary view of Appendix G: depth and horizontal position as brightness, two smoothing passes."""

import jax.numpy as jnp

from rotajax.geometry.solid import Points, Solid
from rotajax.render.camera import PADDED, SCALE, cloud_sample, crop, mark_index, pixel, rotated
from rotajax.render.morphology import dilate_grey, smooth
from rotajax.render.skeleton import Skeleton
from rotajax.render.stream import Sample, fold_samples
from rotajax.types import Array, Float32, Int32, Rotation, View

VIEW_SCALE = 0.9 * SCALE
BACKGROUND = 18
# Below every brightness, and below it still after the disk's falloff: a pixel that no point marked.
UNMARKED = -1000


def brightness(x: Float32[Array, "..."], z: Float32[Array, "..."]) -> Int32[Array, "..."]:
    """Return min(235, max(40, 110 + 6 z + 1.8 x)) truncated, of rotated x and depth z (Equation 11)."""
    grey = (jnp.float32(110) + jnp.float32(6) * z) + jnp.float32(1.8) * x
    return jnp.clip(grey, jnp.float32(40), jnp.float32(235)).astype(jnp.int32)


def shade(shape: Solid | Skeleton | Points, R: Rotation) -> View:
    """Return the auxiliary view, UInt8[320, 320], of a solid (streamed) or of its points under a pose; of a skeleton
    the part that its columns' samples mark, some grey levels off at a tenth of the cost.

    Points are drawn at 0.9 of the mask's scale; in a point's disk brightness falls by floor(2.2 d), overlaps keep the
    maximum, the background is 18, then two 3 x 3 Gaussian passes.
    """

    def mark(grey: Array, sample: Sample) -> Array:
        x, y, z, valid = sample
        across, down, depth = (rotated(R, row, x, y, z) for row in range(3))
        index = mark_index(pixel(across, VIEW_SCALE), pixel(down, VIEW_SCALE), valid, inside=inside)
        return grey.at[index].max(brightness(across, depth), mode="promise_in_bounds")

    R = jnp.asarray(R)
    inside = not isinstance(shape, Points)
    empty = jnp.full(PADDED * PADDED + 1, UNMARKED, jnp.int32)
    if isinstance(shape, Points):
        grey = mark(empty, cloud_sample(shape))
    else:
        grey = fold_samples(shape, empty, mark)
    return finish(crop(dilate_grey(grey[:-1].reshape(PADDED, PADDED), UNMARKED)))


def finish(grey: Int32[Array, "H W"]) -> View:
    """Return the view from the brightest mark a pixel: background where nothing marked it, then two smoothings."""
    grey = jnp.maximum(grey, jnp.int32(BACKGROUND))
    return smooth(smooth(grey)).astype(jnp.uint8)
