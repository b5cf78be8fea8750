"""`glance`: the auxiliary view at 80 x 80, drawn from a solid's surface some fifty times faster than the exact one."""

import jax
import jax.numpy as jnp

from rotajax.geometry.solid import RADIUS, half_depth
from rotajax.render.camera import pixel, rotated
from rotajax.render.shade import BACKGROUND, VIEW_SCALE, brightness
from rotajax.train.picture import small
from rotajax.train.surface import CHUNK, Surface
from rotajax.types import Array, Int32, Rotation, UInt8

# Drawn at half the size of the exact view, one pixel of margin a side.
HALF = 160
PADDED = HALF + 2
# Pixels of the drawn picture between two samples of a column.
GAP = 1.4
# What the disk of Appendix G loses two pixels from its centre.
FALLOFF = 4


def glance(shape: Surface, R: Rotation) -> UInt8[Array, "80 80"]:
    """Return the auxiliary view of a surface under a pose, 80 x 80; see `tests/train/test_glance.py` for its error.

    Caps and walls are all that can be seen. Depth is linear along a wall's column, which is sampled
    every 1.4 pixels of its projected length; disk, smoothing and reduction are those of `shade` at half the size.
    """
    R = jnp.asarray(R)
    grey = jnp.zeros(PADDED * PADDED, jnp.int16)

    def caps(k: Array, grey: Array) -> Array:
        x, y, h, valid = _columns(shape.cap_x, shape.cap_y, shape.caps, k)
        return _mark(_mark(grey, R, x, y, h, valid), R, x, y, -h, valid)

    tilt = jnp.sqrt(R[2, 0] * R[2, 0] + R[2, 1] * R[2, 1])
    samples = jnp.ceil(jnp.float32(VIEW_SCALE * RADIUS / GAP) * tilt).astype(jnp.int32)
    gap = jnp.float32(2) / jnp.maximum(samples, 1).astype(jnp.float32)

    def walls(k: Array, grey: Array) -> Array:
        x, y, h, valid = _columns(shape.wall_x, shape.wall_y, shape.walls, k)

        def level(j: Array, grey: Array) -> Array:
            return _mark(grey, R, x, y, (gap * j.astype(jnp.float32) - jnp.float32(1)) * h, valid)

        return jax.lax.fori_loop(jnp.int32(0), samples + 1, level, grey)

    grey = jax.lax.fori_loop(jnp.int32(0), _chunks(shape.caps), caps, grey)
    grey = jax.lax.fori_loop(jnp.int32(0), _chunks(shape.walls), walls, grey)
    return small(_finish(grey.reshape(PADDED, PADDED).astype(jnp.int32)))


def _chunks(count: Int32[Array, ""]) -> Int32[Array, ""]:
    return (count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)


def _columns(x: Array, y: Array, count: Array, k: Array) -> tuple[Array, Array, Array, Array]:
    x, y = (jax.lax.dynamic_slice(v, (k * CHUNK,), (CHUNK,)) for v in (x, y))
    return x, y, half_depth(x, y), k * CHUNK + jnp.arange(CHUNK, dtype=jnp.int32) < count


def _mark(grey: Array, R: Rotation, x: Array, y: Array, z: Array, valid: Array) -> Array:
    across, down, depth = (rotated(R, row, x, y, z) for row in range(3))
    u, v = (pixel(w, VIEW_SCALE) >> jnp.int32(1) for w in (across, down))
    light = jnp.where(valid, brightness(across, depth), jnp.int32(0)).astype(jnp.int16)
    return grey.at[(v + 1) * PADDED + u + 1].max(light, mode="promise_in_bounds")


def _finish(grey: Int32[Array, "162 162"]) -> Int32[Array, "160 160"]:
    """Return the picture with the disk's neighbours, the background, and both smoothings as one of [1 6 1] / 8."""
    at = grey[1:-1, 1:-1]
    for moved in (grey[:-2, 1:-1], grey[2:, 1:-1], grey[1:-1, :-2], grey[1:-1, 2:]):
        at = jnp.maximum(at, moved - jnp.int32(FALLOFF))
    at = jnp.maximum(at, jnp.int32(BACKGROUND))
    padded = jnp.pad(at, 1, mode="edge")
    rows = padded[:-2] + jnp.int32(6) * padded[1:-1] + padded[2:]
    both = rows[:, :-2] + jnp.int32(6) * rows[:, 1:-1] + rows[:, 2:]
    return (both + jnp.int32(32)) >> jnp.int32(6)
