"""A fold over every sample of a solid, a chunk of columns at a time, for the exact renderers."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from rotajax.geometry.solid import CHUNK as SOLID_CHUNK
from rotajax.geometry.solid import SAMPLES, Solid, depth_fraction, half_depth
from rotajax.render.skeleton import Skeleton
from rotajax.types import Array, Bool, Float32, Int32, UInt32, struct

SKELETON_CHUNK = 2048
CHOSEN_CHUNK = 256
Carry = TypeVar("Carry")
Sample = tuple[Float32[Array, "C"], Float32[Array, "C"], Float32[Array, "C"], Bool[Array, "C"]]


@struct
class Chosen:
    """Some columns of a solid, by their places in it."""

    solid: Solid
    index: UInt32[Array, "C"]
    count: Int32[Array, ""]  # the first `count` places are chosen


def fold_samples(columns: Solid | Skeleton | Chosen, start: Carry, step: Callable[[Carry, Sample], Carry]) -> Carry:
    """Return the carry after `step(carry, (x, y, z, valid))` over every sample of every chunk of columns.

    2.8 million points a solid are never held: depth comes anew from the hash, one sample of 8,192 columns at a time
    (their arrays stay in a core's cache). The number of chunks is a traced value: padding past the last one is free.
    """
    if isinstance(columns, Chosen):
        return _fold_chosen(columns, start, step)
    return fold_part(columns, jnp.int32(0), columns.count, start, step)


def fold_part(
    columns: Solid | Skeleton,
    first: Int32[Array, ""],
    last: Int32[Array, ""],
    start: Carry,
    step: Callable[[Carry, Sample], Carry],
    *,
    samples: int = SAMPLES,
    size: int | None = None,
) -> Carry:
    """Return `fold_samples` over the first `samples` samples of the columns from `first` on, before `last`.

    A chunk has `size` columns; the padded number of columns is a multiple of the default.
    """
    # A skeleton has a tenth of the columns: smaller chunks leave less of the last one empty.
    size = size or (SOLID_CHUNK if isinstance(columns, Solid) else SKELETON_CHUNK)
    half = half_depth(columns.x, columns.y)
    seed = jnp.asarray(columns.seed)
    lane = jnp.arange(size, dtype=jnp.int32)

    def chunk(k: Array, carry: Carry) -> Carry:
        begin = first + k * size
        at = jnp.minimum(begin, jnp.int32(half.shape[0] - size))
        x, y, h = (jax.lax.dynamic_slice(v, (at,), (size,)) for v in (columns.x, columns.y, half))
        place = at + lane
        valid = (place >= begin) & (place < last)
        i = place if isinstance(columns, Solid) else jax.lax.dynamic_slice(columns.index, (at,), (size,))
        return _fold_depths(seed, i.astype(jnp.uint32), (x, y, h, valid), carry, step, samples)

    chunks = (last - first + jnp.int32(size - 1)) // jnp.int32(size)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, start)


def _fold_chosen(columns: Chosen, start: Carry, step: Callable[[Carry, Sample], Carry]) -> Carry:
    """Return `fold_samples` of chosen columns, gathered a chunk at a time: few are chosen."""
    seed, lane = jnp.asarray(columns.solid.seed), jnp.arange(CHOSEN_CHUNK, dtype=jnp.int32)
    index = jnp.pad(columns.index, (0, CHOSEN_CHUNK))

    def chunk(k: Array, carry: Carry) -> Carry:
        first = k * CHOSEN_CHUNK
        i = jax.lax.dynamic_slice(index, (first,), (CHOSEN_CHUNK,))
        x, y = (v.at[i].get(mode="promise_in_bounds") for v in (columns.solid.x, columns.solid.y))
        valid = first + lane < columns.count
        return _fold_depths(seed, i, (x, y, half_depth(x, y), valid), carry, step, SAMPLES)

    chunks = (columns.count + jnp.int32(CHOSEN_CHUNK - 1)) // jnp.int32(CHOSEN_CHUNK)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, start)


def _fold_depths(
    seed: Array, i: Array, columns: Sample, start: Carry, step: Callable[[Carry, Sample], Carry], samples: int
) -> Carry:
    """Return the carry after the first samples of each column of a chunk, (x, y, half-depth, valid), at places i."""
    x, y, h, valid = columns

    def sample(j: Array, carry: Carry) -> Carry:
        z = depth_fraction(seed, i, j.astype(jnp.uint32)) * h
        return step(carry, (x, y, z, valid))

    return jax.lax.fori_loop(jnp.int32(0), jnp.int32(samples), sample, start)
