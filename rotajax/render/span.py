"""The fast silhouette: a solid's columns project to parallel segments, drawn by one write a column and word operations.

Against `splat`, see benchmarks/margin.py for how much an IoU can differ; decisions inside that margin are the exact
renderer's.
"""

import jax
import jax.numpy as jnp

from rotajax.geometry.solid import RADIUS, Solid
from rotajax.render.camera import SCALE, SIZE, pixel, rotated
from rotajax.render.packed import WORD, close_cross, dilate_disk, pack_planes, shift_rows, transpose, unpack
from rotajax.render.skeleton import Skeleton
from rotajax.types import Array, Bool, Int32, Mask, Rotation, UInt32

HALF = SIZE // 2
# Columns a step of the loop: their coordinates stay in a core's cache.
CHUNK = 2048
# The table of segments: rows along the major axis as GROUPS groups of STEPS rows, |a| <= 140 < 144; lines across it,
# |w| <= 140 sqrt 2 < 208, as LINE_WORDS words of 32 lines.
GROUPS, STEPS = 18, 16
ROWS = GROUPS * STEPS
LINE_WORDS = 13
LINES = LINE_WORDS * WORD
WORDS = SIZE // WORD


def span(shape: Solid | Skeleton, R: Rotation) -> Mask:
    """Return the silhouette, Bool[320, 320], of a solid, or faster of its skeleton, under a pose.

    The union of whole segments where Appendix G samples 31 points a column; ends are the exact renderer's pixels.
    """
    return unpack(span_packed(shape, R))


def span_packed(shape: Solid | Skeleton, R: Rotation) -> UInt32[Array, "320 10"]:
    """Return the silhouette of `span` in packed form, UInt32[320, 10]."""
    R = jnp.asarray(R)
    across = jnp.abs(R[0, 2]) > jnp.abs(R[1, 2])
    # Everything is drawn with the major axis downwards, and transposed at the end where it runs across.
    R = jnp.where(across, R[jnp.array([1, 0, 2])], R)
    steep = R[1, 2] != 0
    slope = jnp.where(steep, R[0, 2] / jnp.where(steep, R[1, 2], jnp.float32(1)), jnp.float32(0))
    ends, marks = _scatter(shape, R, slope)
    picture = _fill(ends, slope) | marks
    picture = close_cross(dilate_disk(picture))
    return jnp.where(across, transpose(picture), picture)


def _scatter(shape: Solid | Skeleton, R: Rotation, slope: Array) -> tuple[Int32[Array, "cells"], UInt32[Array, "H W"]]:
    """Return the furthest end of a segment that starts in each cell of the table, and the packed ends of all columns.

    A segment a1..a2 on the line w = b - m a is written at (ceil a1, rint w); a cell without one is below every end.
    """
    lane = jnp.arange(CHUNK, dtype=jnp.int32)

    def chunk(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        table, marks = carry
        first = k * CHUNK
        x, y = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (shape.x, shape.y))
        h = jnp.sqrt(jnp.maximum(jnp.float32(RADIUS**2) - x * x - y * y, jnp.float32(0)))
        valid = first + lane < shape.count
        zero = jnp.float32(0)
        a, b = (jnp.float32(SCALE) * rotated(R, row, x, y, zero) for row in (1, 0))
        length = jnp.float32(SCALE) * jnp.abs(R[1, 2]) * h
        start = jnp.ceil(a - length).astype(jnp.int32)
        end = jnp.floor(a + length).astype(jnp.int32)
        line = jnp.rint(b - slope * a).astype(jnp.int32)
        cell = _cell(start + ROWS // 2, line + LINES // 2)
        end = jnp.where(valid & (start <= end), end, -ROWS)
        table = table.at[cell].max(end, mode="promise_in_bounds")
        for z in (-h, h):
            u, v = (pixel(rotated(R, row, x, y, z), SCALE) for row in (0, 1))
            u, v = jnp.clip(u, 0, SIZE - 1), jnp.clip(v, 0, SIZE - 1)
            index = (u & 31) * (SIZE * WORDS) + v * WORDS + (u >> 5)
            index = jnp.where(valid, index, WORD * SIZE * WORDS)
            marks = marks.at[index].set(jnp.uint8(1), mode="promise_in_bounds")
        return table, marks

    chunks = (shape.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    table = jnp.full(ROWS * LINES, -ROWS, jnp.int32)
    marks = jnp.zeros(SIZE * SIZE + WORD, jnp.uint8)
    table, marks = jax.lax.fori_loop(jnp.int32(0), chunks, chunk, (table, marks))
    planes = marks[: SIZE * SIZE].reshape(WORD, SIZE * WORDS) != 0
    return table, pack_planes(planes).reshape(SIZE, WORDS)


def _cell(row: Array, line: Array) -> Array:
    """Return the place of a cell: [row in group, bit of the word, group, word], so that sweeps and packing have long lanes."""
    row, line = jnp.clip(row, 0, ROWS - 1), jnp.clip(line, 0, LINES - 1)
    group, step = row // STEPS, row % STEPS
    return ((step * WORD + (line & 31)) * GROUPS + group) * LINE_WORDS + (line >> 5)


def _fill(table: Array, slope: Array) -> UInt32[Array, "320 10"]:
    """Return the packed union of the segments: a running maximum of ends down the table, then rows moved into place."""
    table = table.reshape(STEPS, WORD, GROUPS, LINE_WORDS)

    def sweep(furthest: Array, row: Array) -> tuple[Array, Array]:
        furthest = jnp.maximum(furthest, row)
        return furthest, furthest

    start = jnp.full((WORD, GROUPS, LINE_WORDS), -ROWS, table.dtype)
    last, swept = jax.lax.scan(sweep, start, table)
    # What reaches a group from all groups before it.
    reach = 1
    before = jnp.pad(last, ((0, 0), (1, 0), (0, 0)), constant_values=-ROWS)[:, :-1]
    while reach < GROUPS:
        moved = jnp.pad(before, ((0, 0), (reach, 0), (0, 0)), constant_values=-ROWS)[:, :GROUPS]
        before = jnp.maximum(before, moved)
        reach *= 2
    a = jnp.arange(ROWS, dtype=jnp.int32) - ROWS // 2
    row = a.reshape(GROUPS, STEPS).T[:, None, :, None].astype(table.dtype)
    filled = jnp.maximum(swept, before[None]) >= row
    words = pack_planes(jnp.moveaxis(filled, 1, 0))
    words = jnp.moveaxis(words, 0, 1).reshape(ROWS, LINE_WORDS)
    shift = jnp.rint(slope * a.astype(jnp.float32)).astype(jnp.int32) + jnp.int32(HALF - LINES // 2)
    words = shift_rows(words, shift, width=WORDS, reach=6)
    edge = HALF - ROWS // 2
    return jnp.pad(words, ((edge, edge), (0, 0)))
