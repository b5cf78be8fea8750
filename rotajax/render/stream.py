"""A fold over every sample of a solid, a chunk of columns at a time, for the exact renderers."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from rotajax.geometry.solid import CHUNK as SOLID_CHUNK
from rotajax.geometry.solid import SAMPLES, Solid, depth_fraction, half_depth
from rotajax.render.skeleton import Skeleton
from rotajax.types import Array, Bool, Float32

SKELETON_CHUNK = 2048
Carry = TypeVar("Carry")
Sample = tuple[Float32[Array, "C"], Float32[Array, "C"], Float32[Array, "C"], Bool[Array, "C"]]


def fold_samples(columns: Solid | Skeleton, start: Carry, step: Callable[[Carry, Sample], Carry]) -> Carry:
    """Return the carry after `step(carry, (x, y, z, valid))` over every sample of every chunk of columns.

    2.8 million points a solid are never held: depth comes anew from the hash, one sample of 8,192 columns at a time
    (their arrays stay in a core's cache). The number of chunks is a traced value: padding past the last one is free.
    """
    # A skeleton has a tenth of the columns: smaller chunks leave less of the last one empty.
    size = SOLID_CHUNK if isinstance(columns, Solid) else SKELETON_CHUNK
    half = half_depth(columns.x, columns.y)
    seed = jnp.asarray(columns.seed)
    lane = jnp.arange(size, dtype=jnp.uint32)

    def chunk(k: Array, carry: Carry) -> Carry:
        first = k * size
        x, y, h = (jax.lax.dynamic_slice(v, (first,), (size,)) for v in (columns.x, columns.y, half))
        place = first.astype(jnp.uint32) + lane
        valid = place < columns.count.astype(jnp.uint32)
        i = place if isinstance(columns, Solid) else jax.lax.dynamic_slice(columns.index, (first,), (size,))

        def sample(j: Array, inner: Carry) -> Carry:
            z = depth_fraction(seed, i, j.astype(jnp.uint32)) * h
            return step(inner, (x, y, z, valid))

        return jax.lax.fori_loop(jnp.int32(0), jnp.int32(SAMPLES), sample, carry)

    chunks = (columns.count + jnp.int32(size - 1)) // jnp.int32(size)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, start)
