"""Runs of safe cells: how far along its projected segment a column stays where a sample adds nothing to a picture."""

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier

from rotajax.render.camera import CENTRE, SCALE, SIZE, nearest
from rotajax.render.packed import WORD, Upright, erode_disk, erode_sideways, flip_diagonal, shift_rows
from rotajax.types import Array, Bool, Float32, Int32, Rotation, UInt16, UInt32

# Lines along the segments, |w| <= 140 sqrt 2 < LINES / 2, as LINE_WORDS words of 32; pictures are moved by SHIFT.
LINE_WORDS = 13
LINES = LINE_WORDS * WORD
SHIFT = LINES // 2 - SIZE // 2
# Runs are known from one row in QUERY on: a segment needs one near its middle alone. Row QUERY k + LAST is query k.
QUERY = 4
QUERIES, LAST = SIZE // QUERY, QUERY - 1
# On steeper segments two neighbours a side are asked for.
STEEPEST = 0.98
# Float32 coordinates of 320 pixels are 100 times as fine.
SLACK = 1 / 256

Runs = UInt16[Array, "cells"]


def safe_runs(drawn: Upright, across: Bool[Array, ""], slope: Float32[Array, ""]) -> Runs:
    """Return for every (query, line) how many rows from the query's row up are safe, that row included, and down.

    The first in the lower byte, the second in the upper one, each at most 255. `drawn` is a union of disks, and its
    core the pixels whose disk is inside it. A cell is safe where every sample in its row, of a column on its line, has
    its pixel in the core: a sample in row a, at height a' with |a' - a| <= 1/2, of a column on line w is at w + m a'.
    With w, m a and the pixel rounded it is at most 3/2 + |m|/2 from the cell. That is less than 2, so within one
    neighbour of it, or on the steepest segments less than 3.
    """
    core = jax.lax.cond(across, lambda words: flip_diagonal(words).T, lambda words: words, erode_disk(drawn))
    one = optimization_barrier(erode_sideways(core))
    core = jnp.where(jnp.abs(slope) > jnp.float32(STEEPEST), erode_sideways(one), one)
    a = jnp.arange(SIZE, dtype=jnp.int32) - SIZE // 2
    moved = jnp.rint(slope * a.astype(jnp.float32)).astype(jnp.int32)
    safe = optimization_barrier(shift_rows(core, SHIFT - moved, width=LINE_WORDS, reach=7))
    up = safe.reshape(LINE_WORDS, QUERIES, QUERY)[..., ::-1]
    down = jnp.pad(safe[:, LAST:], ((0, 0), (0, LAST))).reshape(LINE_WORDS, QUERIES, QUERY)
    near = optimization_barrier(jnp.stack([_leading(up), _leading(down)[::-1]], axis=1))

    def onwards(run: Array, near: Array) -> tuple[Array, Array]:
        run = near + jnp.where(near == jnp.uint8(QUERY), jnp.minimum(run, jnp.uint8(255 - QUERY)), jnp.uint8(0))
        return run, run

    _, far = jax.lax.scan(onwards, jnp.zeros((2, LINES), jnp.uint8), near)
    return (far[:, 0].astype(jnp.uint16) | (far[::-1, 1].astype(jnp.uint16) << jnp.uint16(8))).reshape(-1)


def _leading(rows: UInt32[Array, "13 80 4"]) -> Array:
    """Return how many of the four rows of each query are safe before the first that is not, UInt8[queries, lines]."""
    bit = jnp.arange(WORD, dtype=jnp.uint32)
    count, whole = jnp.uint32(0), jnp.uint32(0xFFFFFFFF)
    for k in range(QUERY):
        whole = whole & rows[..., k].T
        count = count + ((whole[..., None] >> bit[None, None]) & jnp.uint32(1))
    return count.astype(jnp.uint8).reshape(QUERIES, LINES)


def middles(
    R: Rotation, slope: Float32[Array, ""], x: Float32[Array, "C"], y: Float32[Array, "C"]
) -> tuple[UInt32[Array, "C"], Float32[Array, "C"]]:
    """Return the cell of the runs next to the middle of each column's segment, and how far below its row that is.

    R is the pose turned by `downwards`.
    """
    a, b = (jnp.float32(SCALE) * (R[row, 0] * x + R[row, 1] * y) for row in (1, 0))
    height = a + jnp.float32(CENTRE - LAST)
    query = nearest(height * jnp.float32(1 / QUERY))
    below = height - jnp.float32(QUERY) * query.astype(jnp.float32)
    cell = query * LINES + nearest(b - slope * a + jnp.float32(LINES // 2))
    return jnp.clip(cell, 0, QUERIES * LINES - 1).astype(jnp.uint32), below


def needed(reach: Float32[Array, "C"]) -> Int32[Array, "C"]:
    """Return how many rows from its own on a query has to know safe for samples up to `reach` rows beyond it.

    A sample at height t is in a row at most t + 1/2: ceil(reach + 1/2) rows do, or one more where that is near.
    """
    return jnp.maximum(nearest(reach + jnp.float32(1 + SLACK)), 0)


def known(runs: Runs, cell: UInt32[Array, "C"], up: Int32[Array, "C"], down: Int32[Array, "C"]) -> Bool[Array, "C"]:
    """Return where runs hold so many rows, each below 256, up and down from the row of a cell."""
    # One word a column: what it takes is computed once, and apart from the gather, which does not vectorise.
    rows = up.astype(jnp.uint32) | (down.astype(jnp.uint32) << jnp.uint32(8))
    word = optimization_barrier(cell | (rows << jnp.uint32(16)))
    run = runs.at[word & jnp.uint32(0xFFFF)].get(mode="promise_in_bounds").astype(jnp.uint32)
    rows, low = word >> jnp.uint32(16), jnp.uint32(0xFF)
    return ((run & low) >= (rows & low)) & ((run >> jnp.uint32(8)) >= (rows >> jnp.uint32(8)))
