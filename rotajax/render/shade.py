"""The auxiliary view of Appendix G: depth and horizontal position as brightness, two smoothing passes."""

from functools import partial

import jax.numpy as jnp
from jax import lax

from rotajax.geometry.solid import CHUNK, Points, Solid, half_depth
from rotajax.render.camera import PADDED, SCALE, as_pose, cloud_sample, mark_index, pixel, rotated
from rotajax.render.morphology import dilate_grey, smooth
from rotajax.render.skeleton import Skeleton
from rotajax.render.stream import Sample, fold_samples
from rotajax.types import Array, Float32, Int32, Rotation, View

VIEW_SCALE = 0.9 * SCALE
BACKGROUND = 18
# Grey levels a unit of depth and of horizontal position.
DEPTH, ACROSS = 6.0, 1.8
# Below every brightness, and below it still after the disk's falloff: a pixel that no point marked.
UNMARKED = -1000


def brightness(x: Float32[Array, "..."], z: Float32[Array, "..."]) -> Int32[Array, "..."]:
    """Return min(235, max(40, 110 + 6 z + 1.8 x)) truncated, of rotated x and depth z (Equation 11)."""
    grey = (jnp.float32(110) + jnp.float32(DEPTH) * z) + jnp.float32(ACROSS) * x
    return jnp.clip(grey, jnp.float32(40), jnp.float32(235)).astype(jnp.int32)


def shade(shape: Solid | Skeleton | Points, R: Rotation) -> View:
    """Return the auxiliary view, UInt8[320, 320], of a solid (streamed) or of its points under a pose; of a skeleton
    the part that its columns' samples mark, some grey levels off at a fifth of the cost.

    Points are drawn at 0.9 of the mask's scale; in a point's disk brightness falls by floor(2.2 d), overlaps keep the
    maximum, the background is 18, then two 3 x 3 Gaussian passes.
    """
    R = as_pose(R)
    empty = jnp.full(PADDED * PADDED + 1, UNMARKED, jnp.int32)
    if isinstance(shape, Points):
        return _finish(_mark(R, False, empty, cloud_sample(shape)))
    return _finish(fold_samples(shape, empty, partial(_mark, R, True)))


def shade_surface(solid: Solid, columns: Skeleton, R: Rotation) -> View:
    """Return nearly the view of `shade`, for a quarter of its time, from the marks that can be seen.

    These are the samples of the skeleton's columns, which hold the outline and so the walls, and one end of every
    column, the brighter one: all of the cap that faces the viewer. No mark is there that `shade` has not; where it is
    brighter, a sample inside the solid shows through a gap between others.
    """
    R = as_pose(R)
    grey = jnp.full(PADDED * PADDED + 1, UNMARKED, jnp.int32)
    grey = fold_samples(columns, grey, partial(_mark, R, True))
    side = jnp.where(DEPTH * R[2, 2] + ACROSS * R[0, 2] < 0, jnp.float32(-1), jnp.float32(1))
    lane = jnp.arange(CHUNK, dtype=jnp.int32)

    def cap(k: Array, grey: Array) -> Array:
        x, y = (lax.dynamic_slice(v, (k * CHUNK,), (CHUNK,)) for v in (solid.x, solid.y))
        return _mark(R, True, grey, (x, y, side * half_depth(x, y), k * CHUNK + lane < solid.count))

    chunks = (solid.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    return _finish(lax.fori_loop(jnp.int32(0), chunks, cap, grey))


def _mark(R: Rotation, inside: bool, grey: Array, sample: Sample) -> Array:
    """Return the marks with those of some samples, each its pixel's brightest."""
    x, y, z, valid = sample
    across, down, depth = (rotated(R, row, x, y, z) for row in range(3))
    index = mark_index(pixel(across, VIEW_SCALE), pixel(down, VIEW_SCALE), valid, inside=inside)
    return grey.at[index].max(brightness(across, depth), mode="promise_in_bounds")


def _finish(marks: Array) -> View:
    """Return the view from the brightest mark a pixel: disks, background where none is, two smoothings."""
    framed = lax.optimization_barrier(marks[:-1].reshape(PADDED, PADDED))
    grey = jnp.maximum(dilate_grey(framed), jnp.int32(BACKGROUND))
    return smooth(smooth(grey)).astype(jnp.uint8)
