"""The exact silhouette from a few of its columns, with a certificate that the others would add no pixel to it.

The disks D of the skeleton's samples are a subset of the exact set, and nearly all of it. A sample whose own disk lies
in D adds nothing. Such pixels are the core; a column whose whole segment stays on the core, by a test that errs on the
safe side, is done without drawing it. The samples of the others (some 0.5 to 10 %) are drawn.
"""

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier

from rotajax.geometry.solid import CHUNK, Solid, half_depth
from rotajax.render.camera import CENTRE, SCALE, SIZE, pixel
from rotajax.render.packed import WORD, Upright, close_cross, erode_disk, erode_sideways, flip_diagonal, shift_rows
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import LINE_WORDS, LINES, downwards
from rotajax.render.splat import disks
from rotajax.render.stream import Chosen
from rotajax.types import Array, Bool, Float32, Rotation, UInt32

# A segment is made longer by so many pixels at both ends: float32 coordinates of 320 pixels are 100 times as fine.
SLACK = 1 / 256
# On steeper segments the test would have no slack across; there every column is drawn.
STEEPEST = 0.98
# The picture's columns lie so many lines to the right in the table.
SHIFT = LINES // 2 - SIZE // 2
# The run of no cell.
NOTHING = -1


def certified_packed(solid: Solid, columns: Skeleton, R: Rotation) -> UInt32[Array, "320 10"]:
    """Return `splat_packed(solid, R)`, bit for bit, given the solid's skeleton; some twice as fast."""
    return completed(solid, columns, R, disks(columns, R))


def completed(solid: Solid, columns: Skeleton, R: Rotation, drawn: Upright) -> UInt32[Array, "320 10"]:
    """Return `certified_packed` where `drawn`, the disks of the skeleton's samples, is there already."""
    R = jnp.asarray(R)
    across, turned, slope = downwards(R)
    open_ = _open(solid, turned, slope, _runs(drawn, across, slope))
    # The skeleton's own columns are drawn already.
    padding = jnp.arange(columns.index.shape[0], dtype=jnp.int32) >= columns.count
    place = jnp.where(padding, jnp.uint32(open_.shape[0]), columns.index)
    open_ = jnp.pad(open_, (0, 1)).at[place].set(False, mode="promise_in_bounds")[:-1]
    return close_cross(drawn | disks(_compact(solid, open_), R)).T


def _runs(drawn: Upright, across: Bool[Array, ""], slope: Float32[Array, ""]) -> Array:
    """Return for every (row, line) the last row of the run of safe cells of that line which holds it, else NOTHING.

    A sample in row a of a column on line w = b - m a is at b = w + m a', |a' - a| <= 1/2. With w and m a rounded its
    pixel is at most 1/2 + 1/2 + |m|/2 < 3/2 from the cell: on this or a neighbour, so all three have to be in the core.
    """
    core = jax.lax.cond(across, lambda words: flip_diagonal(words).T, lambda words: words, erode_disk(drawn))
    a = jnp.arange(SIZE, dtype=jnp.int32) - SIZE // 2
    moved = jnp.rint(slope * a.astype(jnp.float32)).astype(jnp.int32)
    safe = optimization_barrier(shift_rows(erode_sideways(core), SHIFT - moved, width=LINE_WORDS, reach=7))
    bit = jnp.arange(WORD, dtype=jnp.uint32)[:, None]

    def sweep(last: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        row, words = step
        inside = ((words[None] >> bit) & jnp.uint32(1)) != 0
        last = jnp.where(inside, jnp.maximum(last, row), jnp.int16(NOTHING))
        return last, last

    end = jnp.full((WORD, LINE_WORDS), NOTHING, jnp.int16)
    _, runs = jax.lax.scan(sweep, end, (jnp.arange(SIZE, dtype=jnp.int16), safe.T), reverse=True)
    return runs.reshape(-1)


def _open(solid: Solid, R: Rotation, slope: Float32[Array, ""], runs: Array) -> Bool[Array, "C"]:
    """Return which columns of a solid are not known to stay on the core."""
    lane = jnp.arange(CHUNK, dtype=jnp.int32)
    scale = jnp.float32(SCALE)
    steep = jnp.abs(slope) > jnp.float32(STEEPEST)

    def chunk(k: Array, open_: Array) -> Array:
        first = k * CHUNK
        x, y = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (solid.x, solid.y))
        a, b = (scale * (R[row, 0] * x + R[row, 1] * y) for row in (1, 0))
        half = scale * jnp.abs(R[1, 2]) * half_depth(x, y) + jnp.float32(SLACK)
        start, end = pixel(a - half, 1.0), pixel(a + half, 1.0)
        line = pixel(b - slope * a, 1.0) + (LINES // 2 - int(CENTRE))
        start, line = jnp.clip(start, 0, SIZE - 1), jnp.clip(line, 0, LINES - 1)
        cell = (start * WORD + line % WORD) * LINE_WORDS + line // WORD
        # Apart from the gather, which does not vectorise.
        cell, end = optimization_barrier((cell.astype(jnp.uint32), end.astype(jnp.int16)))
        run = runs.at[cell].get(mode="promise_in_bounds")
        left = (steep | (run < end)) & (first + lane < solid.count)
        return jax.lax.dynamic_update_slice(open_, left, (first,))

    chunks = (solid.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, jnp.zeros(solid.x.shape, jnp.bool_))


def _compact(solid: Solid, open_: Bool[Array, "C"]) -> Chosen:
    """Return the open columns, their places in front: counted in 32 interleaved planes, then each to its place."""
    size = open_.shape[0]
    planes = open_.reshape(WORD, size // WORD).astype(jnp.int32)
    counts = jnp.sum(planes, axis=0, dtype=jnp.int32)
    upto = jnp.cumsum(counts, dtype=jnp.int32)

    def place(free: Array, plane: Array) -> tuple[Array, Array]:
        return free + plane, jnp.where(plane != 0, free, jnp.int32(size)).astype(jnp.uint32)

    _, places = jax.lax.scan(place, upto - counts, planes)
    index = jnp.zeros(size + 1, jnp.int32)
    index = index.at[places.reshape(-1)].set(jnp.arange(size, dtype=jnp.int32), mode="promise_in_bounds")
    return Chosen(solid=solid, index=index, count=upto[-1])
