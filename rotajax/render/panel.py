"""The picture a solver sees: target | auxiliary view | current, side by side (Appendix G, Observation assembly)."""

import jax.numpy as jnp

from rotajax.render.camera import SIZE
from rotajax.types import Array, Mask, UInt8, View

STRIP = 6
STRIP_GREY = 12


def panel(target: Mask, view: View, current: Mask) -> UInt8[Array, "H 972"]:
    """Return the 972 x 320 panel: three pictures parted by two 6-pixel strips of intensity 12."""
    strip = jnp.full((SIZE, STRIP), STRIP_GREY, jnp.uint8)
    white = jnp.uint8(255)
    return jnp.concatenate([target * white, strip, view, strip, current * white], axis=1)
