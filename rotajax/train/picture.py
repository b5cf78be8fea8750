"""`small`: a picture of 320 x 320 as a policy sees it, 80 x 80; the same reduction in training and in play."""

import jax.numpy as jnp

from rotajax.types import Array, UInt8

SIDE = 80


def small(picture: Array) -> UInt8[Array, "80 80"]:
    """Return a mask (white 255) or a grey picture as means over blocks, rounded half up; its side is a multiple of 80.

    >>> import numpy as np
    >>> int(small(np.ones((320, 320), bool))[0, 0])
    255
    """
    step = picture.shape[0] // SIDE
    white = 255 if picture.dtype == jnp.bool_ else 1
    blocks = picture.astype(jnp.int32).reshape(SIDE, step, SIDE, step)
    total = jnp.int32(white) * jnp.sum(blocks, axis=(1, 3), dtype=jnp.int32)
    return ((total + jnp.int32(step * step // 2)) // jnp.int32(step * step)).astype(jnp.uint8)
