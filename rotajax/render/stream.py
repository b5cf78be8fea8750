"""A fold over every sample of a solid, a chunk of columns at a time, for the exact renderers."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from rotajax.geometry.solid import CHUNK, SAMPLES, Solid, depth_fraction, half_depth
from rotajax.types import Array, Bool, Float32

Carry = TypeVar("Carry")
Sample = tuple[Float32[Array, "C"], Float32[Array, "C"], Float32[Array, "C"], Bool[Array, "C"]]


def fold_samples(solid: Solid, start: Carry, step: Callable[[Carry, Sample], Carry]) -> Carry:
    """Return the carry after `step(carry, (x, y, z, valid))` over every sample of every chunk of columns.

    2.8 million points a solid are never held: depth comes anew from the hash, one sample of 8,192 columns at a time
    (their arrays stay in a core's cache). The number of chunks is a traced value: padding past the last one is free.
    """
    half = half_depth(solid)
    lane = jnp.arange(CHUNK, dtype=jnp.uint32)

    def chunk(k: Array, carry: Carry) -> Carry:
        first = k * CHUNK
        x, y, h = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (solid.x, solid.y, half))
        i = first.astype(jnp.uint32) + lane
        valid = i < solid.count.astype(jnp.uint32)

        def sample(j: Array, inner: Carry) -> Carry:
            z = depth_fraction(solid.seed, i, j.astype(jnp.uint32)) * h
            return step(inner, (x, y, z, valid))

        return jax.lax.fori_loop(jnp.int32(0), jnp.int32(SAMPLES), sample, carry)

    chunks = (solid.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, start)
