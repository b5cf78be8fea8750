"""The picture a solver sees: target | auxiliary view | current, side by side (Appendix G, Observation assembly)."""

import jax.numpy as jnp

from rotajax.render.camera import SIZE
from rotajax.types import Array, Mask, UInt8, View

STRIP = 6
STRIP_GREY = 12


def panel(target: Mask, view: View, current: Mask) -> UInt8[Array, "H 972"]:
    """Return the 972 x 320 panel: three pictures parted by two 6-pixel strips of intensity 12."""
    strip = jnp.full((SIZE, STRIP), STRIP_GREY, jnp.uint8)
    white, black = jnp.uint8(255), jnp.uint8(0)
    left, right = (jnp.where(mask, white, black) for mask in (target, current))
    return jnp.concatenate([left, strip, view, strip, right], axis=1)
