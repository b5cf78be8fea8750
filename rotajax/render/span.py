"""The fast silhouette: columns project to parallel segments, drawn by three writes a column and word operations.

How far its IoU can be from the exact renderer's is measured by benchmarks/margin.py; decisions inside that margin are
the exact renderer's. On a CPU map it over poses (`jax.lax.map`), on an accelerator `jax.vmap` it.
"""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import optimization_barrier

from rotajax.geometry.solid import RADIUS, Solid
from rotajax.render.camera import CENTRE, SCALE, SIZE, as_pose, nearest, rotated, within
from rotajax.render.packed import (
    WORD,
    Upright,
    close_cross,
    dilate_cross,
    dilate_disk,
    flip_diagonal,
    pack_marks,
    pack_planes,
    shift_rows,
    unpack,
)
from rotajax.render.skeleton import Skeleton
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, UInt32

# Columns a step of the loop: their coordinates stay in a core's cache.
CHUNK = 2048
# Rounding to the nearest after adding it is rounding up, but for what lies less than a thousandth above an integer.
UP = 0.5 - 1 / 1024


class Grid(NamedTuple):
    """A picture's size and the table of its segments.

    Down: rows along the major axis, |a| <= 28 scale < rows / 2, as groups of steps. Across: lines w = b - m a,
    |w| <= 28 sqrt 2 scale < lines / 2, as words of 32. One picture a phase: w is known to 1 / phases of a cell before
    its row's m a is added and rounded, else a long straight edge could be off by a pixel in every second row. An entry
    is the end of a segment in pairs of rows, for it to fit a byte; 0 is none.
    """

    scale: float
    centre: float
    size: int
    groups: int
    steps: int
    line_words: int
    phases: int

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.groups * self.steps

    @property
    def lines(self) -> int:
        """Lines of the table, a phase."""
        return self.line_words * WORD

    @property
    def words(self) -> int:
        """Words a row of the picture."""
        return self.size // WORD


FINE = Grid(scale=SCALE, centre=CENTRE, size=SIZE, groups=8, steps=36, line_words=14, phases=2)
# Half as many pixels a side; pixel i covers pixels 2 i and 2 i + 1.
COARSE = Grid(scale=SCALE / 2, centre=CENTRE / 2 - 0.25, size=SIZE // 2, groups=8, steps=18, line_words=8, phases=1)
LINE_WORDS, LINES = FINE.line_words, FINE.lines


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
    across, picture = turned_picture(FINE, shape, R)
    return jax.lax.cond(across, flip_diagonal, jnp.transpose, picture)


def turned_picture(grid: Grid, shape: Solid | Skeleton, R: Rotation) -> tuple[Bool[Array, ""], Upright]:
    """Return (flipped, picture): the silhouette on a grid, as it is drawn fastest, upright or flipped by its diagonal.

    A skeleton's picture on the coarse grid is that of its first columns.
    """
    if grid is COARSE and isinstance(shape, Skeleton):
        shape = dataclasses.replace(shape, count=shape.coarse)
    across, R, slope = downwards(as_pose(R))
    table, ends = _draw(grid, shape, R, slope)
    points = _fill(grid, table, slope) | ends
    return across, close_cross(dilate_disk(points) if grid is FINE else dilate_cross(points))


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


def _draw(grid: Grid, shape: Solid | Skeleton, R: Rotation, slope: Float32[Array, ""]) -> tuple[Array, Upright]:
    """Return the furthest end of a segment that starts in each cell of the table, and the ends of all columns, packed.

    A segment from a1 to a2 on line w is written at (ceil a1, w), its end is floor a2: inside it a row's cell is
    w + m a, rounded in two parts. Its two ends are between rows, and are marked as the exact renderer marks them.
    """
    lane = jnp.arange(CHUNK, dtype=jnp.int32)
    scale, up = jnp.float32(grid.scale), jnp.float32(UP)

    def chunk(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        table, marks = carry
        first = k * CHUNK
        x, y = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (shape.x, shape.y))
        h = jnp.sqrt(jnp.maximum(jnp.float32(RADIUS**2) - x * x - y * y, jnp.float32(0)))
        valid = first + lane < shape.count
        a, b = (scale * (R[row, 0] * x + R[row, 1] * y) for row in (1, 0))
        half = scale * jnp.abs(R[1, 2]) * h
        start, end = nearest(a - half + up), nearest(a + half - up)
        line = nearest(jnp.float32(grid.phases) * (b - slope * a) + jnp.float32((grid.phases - 1) / 2))
        # The last row may be missing: it is within a pixel of the segment's end, which is marked.
        pairs = jnp.where(valid & (start <= end), (end + jnp.int32(grid.rows // 2 + 1)) >> 1, 0).astype(jnp.uint8)
        table = table.at[_cell(grid, start, line)].max(pairs, mode="promise_in_bounds")
        for z in (-h, h):
            u, v = (nearest(jnp.float32(grid.centre) + scale * rotated(R, row, x, y, z)) for row in (0, 1))
            index = ((u & 31) * grid.words + (u >> 5)) * grid.size + v
            index = jnp.where(valid, within(index, grid.size * grid.size), jnp.uint32(grid.size * grid.size))
            marks = marks.at[index].set(jnp.uint8(1), mode="promise_in_bounds")
        return table, marks

    chunks = (shape.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    table, marks = (
        jnp.zeros(grid.rows * grid.phases * grid.lines, jnp.uint8),
        jnp.zeros(grid.size * grid.size + 1, jnp.uint8),
    )
    table, marks = jax.lax.fori_loop(jnp.int32(0), chunks, chunk, (table, marks))
    return table, pack_marks(marks, grid.size)


def _cell(grid: Grid, row: Int32[Array, "C"], line: Int32[Array, "C"]) -> UInt32[Array, "C"]:
    """Return the place of a cell in the table: [row in group, bit of the word, group, phase, word], for long lanes."""
    row, line = row + grid.rows // 2, line + grid.phases * (grid.lines // 2)
    group, phase, line = row // grid.steps, line % grid.phases, line // grid.phases
    cell = (
        ((row % grid.steps * WORD + line % WORD) * grid.groups + group) * grid.phases + phase
    ) * grid.line_words + line // WORD
    return within(cell, grid.rows * grid.phases * grid.lines)


def _fill(grid: Grid, table: Array, slope: Float32[Array, ""]) -> Upright:
    """Return the packed union of the segments: cells up to the furthest end so far, rows moved into place."""
    table = table.reshape(grid.steps, WORD, grid.phases * grid.groups * grid.line_words)
    nothing = jnp.zeros((WORD, grid.phases * grid.line_words), table.dtype)
    # Written out: XLA's own reduction of bytes leaves the device's thread.
    highest = functools.reduce(jnp.maximum, table).reshape(WORD, grid.groups, grid.phases * grid.line_words)
    _, before = jax.lax.scan(lambda far, group: (jnp.maximum(far, group), far), nothing, jnp.moveaxis(highest, 1, 0))
    before = optimization_barrier(jnp.moveaxis(before, 0, 1).reshape(WORD, grid.phases * grid.groups * grid.line_words))
    row = np.arange(grid.rows)
    pair = np.repeat(
        (row // 2).astype(np.uint8).reshape(grid.groups, grid.steps).T, grid.phases * grid.line_words, axis=1
    )

    def sweep(far: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        far = jnp.maximum(far, step[0])
        return far, pack_planes(far > step[1][None])

    _, words = jax.lax.scan(sweep, before, (table, jnp.asarray(pair)))
    words = jnp.transpose(words.reshape(grid.steps, grid.groups, grid.phases, grid.line_words), (3, 2, 1, 0))
    offset = (np.arange(grid.phases, dtype=np.float32) + np.float32(0.5)) / np.float32(grid.phases) - np.float32(0.5)
    a = jnp.asarray(row - grid.rows // 2, jnp.float32)
    moved = nearest(jnp.asarray(offset)[:, None] + slope * a[None]).reshape(-1)
    words = optimization_barrier(words.reshape(grid.line_words, grid.phases * grid.rows))
    words = shift_rows(words, moved + jnp.int32(grid.size // 2 - grid.lines // 2), width=grid.words, reach=7)
    words = functools.reduce(jnp.bitwise_or, jnp.split(words, grid.phases, axis=1))
    edge = (grid.size - grid.rows) // 2
    return jnp.pad(words, ((0, 0), (edge, edge)))
