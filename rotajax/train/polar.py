"""`polar`: the three pictures in polar coordinates about the solid's centre, where a turn in the plane is a shift."""

from functools import cache

import jax.numpy as jnp
import numpy as np

from rotajax.geometry.solid import RADIUS
from rotajax.render.camera import SCALE
from rotajax.render.shade import BACKGROUND, VIEW_SCALE
from rotajax.train.picture import SIDE
from rotajax.types import Array, Float32, UInt8

RAYS = 96
RINGS = 24
# Pixels of the full picture a pixel of the small one.
_STEP = 4.0


@cache
def _samples(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels [rays rings, 4] of a small picture around each sample, and their weights."""
    angle = np.arange(RAYS) * 2 * np.pi / RAYS
    radius = (np.arange(RINGS) + 0.5) * (RADIUS + 0.5) / RINGS
    x, y = (np.outer(f(angle), radius).ravel() for f in (np.cos, np.sin))
    # Pixel 160 of the full picture is the centre; the small one's pixel i holds pixels 4 i to 4 i + 3.
    u, v = ((160.0 + scale * w - 1.5) / _STEP for w in (x, y))
    u0, v0 = np.floor(u).astype(int), np.floor(v).astype(int)
    du, dv = u - u0, v - v0
    pixels, weights = [], []
    for dj, b in ((0, 1 - dv), (1, dv)):
        for di, a in ((0, 1 - du), (1, du)):
            pixels.append(np.clip(v0 + dj, 0, SIDE - 1) * SIDE + np.clip(u0 + di, 0, SIDE - 1))
            weights.append(a * b)
    return np.stack(pixels, -1).astype(np.int32), np.stack(weights, -1).astype(np.float32)


def _sampled(picture: Float32[Array, "80 80"], scale: float) -> Float32[Array, "rays rings"]:
    pixels, weights = _samples(scale)
    found = jnp.sum(picture.reshape(-1)[jnp.asarray(pixels)] * jnp.asarray(weights), axis=-1, dtype=jnp.float32)
    return found.reshape(RAYS, RINGS)


def polar_mask(mask: UInt8[Array, "80 80"]) -> Float32[Array, "rays rings"]:
    """Return a silhouette in polar coordinates, in [0, 1]."""
    return _sampled(mask.astype(jnp.float32) / jnp.float32(255), SCALE)


def polar_view(view: UInt8[Array, "80 80"]) -> Float32[Array, "rays rings"]:
    """Return the auxiliary view in polar coordinates: about depth, from 0 at the background to 1 at the brightest.

    The part of the brightness that goes with x (Equation 11) is taken away, so that a turn in the plane only shifts it.
    """
    grey = view.astype(jnp.float32) - jnp.float32(BACKGROUND)
    # x in solid units of a pixel's centre; the solid's darkest point is 22 above the background.
    x = (jnp.arange(SIDE, dtype=jnp.float32) * jnp.float32(_STEP) + jnp.float32(1.5 - 160)) / jnp.float32(VIEW_SCALE)
    solid = jnp.clip(grey / jnp.float32(22), 0, 1)
    return _sampled((grey - jnp.float32(1.8) * x[None] * solid) / jnp.float32(200), VIEW_SCALE)
