"""The fast silhouette: columns project to parallel segments, drawn by three writes a column and word operations.

How far its IoU can be from the exact renderer's is measured by benchmarks/margin.py; decisions inside that margin are
the exact renderer's. On a CPU map it over poses (`jax.lax.map`), on an accelerator `jax.vmap` it.
"""

import functools

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier

from rotajax.geometry.solid import RADIUS, Solid
from rotajax.render.camera import SCALE, SIZE, pixel, rotated
from rotajax.render.packed import (
    WORD,
    Upright,
    close_cross,
    dilate_disk,
    flip_diagonal,
    pack_planes,
    shift_rows,
    unpack,
)
from rotajax.render.skeleton import Skeleton
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, UInt32

WORDS = SIZE // WORD
# Columns a step of the loop: their coordinates stay in a core's cache.
CHUNK = 2048
# The table of segments. Down: rows along the major axis, |a| <= 140 < ROWS / 2, as GROUPS groups of STEPS rows.
# Across: lines w = b - m a, |w| <= 140 sqrt 2 < LINES / 2, as LINE_WORDS words of 32. One picture a phase: w is known
# to 1 / PHASES of a cell before its row's m a is added and rounded, else a long straight edge could be off by a pixel
# in every second row.
GROUPS, STEPS = 9, 32
ROWS = GROUPS * STEPS
LINE_WORDS = 13
LINES = LINE_WORDS * WORD
PHASES = 2
LANES = PHASES * GROUPS * LINE_WORDS
# The end of no segment: before every row.
NOTHING = -ROWS


def span(shape: Solid | Skeleton, R: Rotation) -> Mask:
    """Return the silhouette, Bool[320, 320], of a solid, or some times faster of its skeleton, under a pose.

    The union of whole segments where Appendix G samples 31 points a column; their ends are the exact renderer's pixels.

    >>> import numpy as np
    >>> from rotajax.geometry.solid import make_solid
    >>> int(span(make_solid(np.zeros((1, 2)), 0), np.eye(3, dtype=np.float32)).sum())
    13
    """
    return unpack(span_packed(shape, R))


def span_packed(shape: Solid | Skeleton, R: Rotation) -> UInt32[Array, "320 10"]:
    """Return the silhouette of `span` in packed form, UInt32[320, 10] (see rotajax.render.packed)."""
    across, R, slope = downwards(jnp.asarray(R))
    table, ends = _draw(shape, R, slope)
    picture = close_cross(dilate_disk(_fill(table, slope) | ends))
    return jax.lax.cond(across, flip_diagonal, jnp.transpose, picture)


def downwards(R: Rotation) -> tuple[Bool[Array, ""], Rotation, Float32[Array, ""]]:
    """Return (across, R, slope): columns are drawn with their major axis, along which segments are longer, downwards.

    Where it is across, the rows x and y of R come exchanged, and the picture is to be flipped about its diagonal. The
    slope is the move to the right a row, [-1, 1]; 0 where columns are seen end-on.
    """
    across = jnp.abs(R[0, 2]) > jnp.abs(R[1, 2])
    R = jnp.where(across, R[jnp.array([1, 0, 2])], R)
    level = R[1, 2] == 0
    slope = jnp.where(level, jnp.float32(0), R[0, 2] / jnp.where(level, jnp.float32(1), R[1, 2]))
    return across, R, slope


def _draw(shape: Solid | Skeleton, R: Rotation, slope: Float32[Array, ""]) -> tuple[Array, Upright]:
    """Return the furthest end of a segment that starts in each cell of the table, and the ends of all columns, packed.

    A segment from a1 to a2 on line w is written at (ceil a1, w), its end is floor a2: inside it a row's cell is
    w + m a, rounded in two parts. Its two ends are between rows, and are marked as the exact renderer marks them.
    """
    lane = jnp.arange(CHUNK, dtype=jnp.int32)
    scale = jnp.float32(SCALE)

    def chunk(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        table, marks = carry
        first = k * CHUNK
        x, y = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (shape.x, shape.y))
        h = jnp.sqrt(jnp.maximum(jnp.float32(RADIUS**2) - x * x - y * y, jnp.float32(0)))
        valid = first + lane < shape.count
        a, b = (scale * (R[row, 0] * x + R[row, 1] * y) for row in (1, 0))
        half = scale * jnp.abs(R[1, 2]) * h
        start, end = jnp.ceil(a - half).astype(jnp.int32), jnp.floor(a + half).astype(jnp.int32)
        line = jnp.floor(jnp.float32(PHASES) * (b - slope * a) + jnp.float32(PHASES / 2)).astype(jnp.int32)
        cell = _cell(start, line + PHASES * (LINES // 2))
        end = jnp.where(valid & (start <= end), end, NOTHING).astype(jnp.int16)
        table = table.at[cell].max(end, mode="promise_in_bounds")
        for z in (-h, h):
            u, v = (jnp.clip(pixel(rotated(R, row, x, y, z), SCALE), 0, SIZE - 1) for row in (0, 1))
            index = ((u & 31) * WORDS + (u >> 5)) * SIZE + v
            marks = marks.at[jnp.where(valid, index, SIZE * SIZE)].set(jnp.uint8(1), mode="promise_in_bounds")
        return table, marks

    chunks = (shape.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    table, marks = jnp.full(ROWS * PHASES * LINES, NOTHING, jnp.int16), jnp.zeros(SIZE * SIZE + 1, jnp.uint8)
    table, marks = jax.lax.fori_loop(jnp.int32(0), chunks, chunk, (table, marks))
    marks = optimization_barrier(marks[: SIZE * SIZE].reshape(WORD, WORDS * SIZE))
    return table, optimization_barrier(pack_planes(marks != 0)).reshape(WORDS, SIZE)


def _cell(row: Int32[Array, "C"], line: Int32[Array, "C"]) -> Int32[Array, "C"]:
    """Return the place of a cell in the table: [row in group, bit of the word, group, phase, word], for long lanes."""
    row, line = jnp.clip(row + ROWS // 2, 0, ROWS - 1), jnp.clip(line, 0, PHASES * LINES - 1)
    group, phase, line = row // STEPS, line % PHASES, line // PHASES
    return (((row % STEPS * WORD + line % WORD) * GROUPS + group) * PHASES + phase) * LINE_WORDS + line // WORD


def _fill(table: Array, slope: Float32[Array, ""]) -> Upright:
    """Return the packed union of the segments: cells up to the furthest end so far, rows moved into place."""
    table = table.reshape(STEPS, WORD, GROUPS, PHASES * LINE_WORDS)
    nothing = jnp.full((WORD, PHASES * LINE_WORDS), NOTHING, table.dtype)
    highest = jnp.moveaxis(jnp.max(table, axis=0), 1, 0)
    _, before = jax.lax.scan(lambda far, group: (jnp.maximum(far, group), far), nothing, highest)
    before = optimization_barrier(jnp.moveaxis(before, 0, 1).reshape(WORD, LANES))
    a = jnp.arange(ROWS, dtype=jnp.int32) - ROWS // 2
    row = jnp.repeat(a.astype(table.dtype).reshape(GROUPS, STEPS).T, PHASES * LINE_WORDS, axis=1)

    def sweep(far: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        far = jnp.maximum(far, step[0])
        return far, pack_planes(far >= step[1][None])

    _, words = jax.lax.scan(sweep, before, (table.reshape(STEPS, WORD, LANES), row))
    words = jnp.transpose(words.reshape(STEPS, GROUPS, PHASES, LINE_WORDS), (3, 2, 1, 0))
    offset = (jnp.arange(PHASES, dtype=jnp.float32) + jnp.float32(0.5)) / jnp.float32(PHASES) - jnp.float32(0.5)
    moved = jnp.rint(offset[:, None] + slope * a.astype(jnp.float32)[None]).astype(jnp.int32).reshape(-1)
    words = optimization_barrier(words.reshape(LINE_WORDS, PHASES * ROWS))
    words = shift_rows(words, moved + jnp.int32(SIZE // 2 - LINES // 2), width=WORDS, reach=6)
    words = functools.reduce(jnp.bitwise_or, jnp.split(words, PHASES, axis=1))
    edge = (SIZE - ROWS) // 2
    return jnp.pad(words, ((0, 0), (edge, edge)))
