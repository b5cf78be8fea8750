"""The exact silhouette from a few of its samples, with a certificate that the others would add no pixel to it.

The disks D of some samples are a subset of the exact set, and nearly all of it: all samples of the outline, and a few
of the one column in each 2 x 2 pixels inside. A sample whose own disk lies in D adds nothing; such pixels are the core.
A column whose whole segment stays on the core, by a test that errs on the safe side, is done. Of the others (0.2 to
15 %) most leave it near their ends only, beyond the samples between: the two ends are drawn, and all samples of the few
columns (about 0.5 %) whose outermost samples between the ends may leave it too.
"""

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier

from rotajax.geometry.solid import CHUNK, Solid, depth_extremes, half_depth
from rotajax.render.camera import SCALE, as_pose
from rotajax.render.packed import Upright, close_cross
from rotajax.render.runs import Runs, known, middles, needed, safe_runs
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import downwards
from rotajax.render.splat import disks_at, marker, no_marks
from rotajax.render.stream import Chosen, fold_part, fold_samples
from rotajax.types import Array, Bool, Float32, Int32, Rotation, UInt32

# Samples drawn of a column inside the outline: both ends and two between. With one fewer two to four times as many
# columns are left, with more no fewer.
INSIDE = 4
OUTLINE_CHUNK = 512
# Open columns a step: their ends are drawn and their samples between looked at.
ENDS_CHUNK = 512


def certified_packed(solid: Solid, columns: Skeleton, R: Rotation) -> UInt32[Array, "320 10"]:
    """Return `splat_packed(solid, R)`, bit for bit, given the solid's skeleton; some four times as fast."""
    return completed(solid, columns, R, drafted(columns, R))


def drafted(columns: Skeleton, R: Rotation) -> Upright:
    """Return the disks of all samples of the outline and of a few of the columns inside it; not yet closed."""
    mark, marks = marker(as_pose(R)), no_marks()
    marks = fold_part(columns, columns.outline, columns.inside, marks, mark, size=OUTLINE_CHUNK)
    for first, last in ((jnp.zeros_like(columns.outline), columns.outline), (columns.inside, columns.count)):
        marks = fold_part(columns, first, last, marks, mark, samples=INSIDE)
    return disks_at(marks)


def completed(solid: Solid, columns: Skeleton, R: Rotation, drawn: Upright) -> UInt32[Array, "320 10"]:
    """Return `certified_packed` where `drafted`, or disks of more samples, are there already."""
    solid, R = jax.tree.map(jnp.asarray, (solid, R))
    across, turned, slope = downwards(R)
    runs = safe_runs(drawn, across, slope)
    open_ = _without_outline(_open(solid, turned, slope, runs), columns)
    marks, left = _ends(_compact(solid, open_), R, turned, slope, runs)
    return close_cross(drawn | disks_at(fold_samples(left, marks, marker(R)))).T


def _open(solid: Solid, R: Rotation, slope: Float32[Array, ""], runs: Runs) -> Bool[Array, "C"]:
    """Return which columns of a solid are not known to stay on the core."""
    lane = jnp.arange(CHUNK, dtype=jnp.int32)

    def chunk(k: Array, open_: Array) -> Array:
        first = k * CHUNK
        x, y = (jax.lax.dynamic_slice(v, (first,), (CHUNK,)) for v in (solid.x, solid.y))
        half = jnp.float32(SCALE) * jnp.abs(R[1, 2]) * half_depth(x, y)
        cell, below = middles(R, slope, x, y)
        left = ~known(runs, cell, needed(half - below), needed(half + below)) & (first + lane < solid.count)
        return jax.lax.dynamic_update_slice(open_, left, (first,))

    chunks = (solid.count + jnp.int32(CHUNK - 1)) // jnp.int32(CHUNK)
    return jax.lax.fori_loop(jnp.int32(0), chunks, chunk, jnp.zeros(solid.x.shape, jnp.bool_))


def _without_outline(open_: Bool[Array, "C"], columns: Skeleton) -> Bool[Array, "C"]:
    """Return the open columns without those of the outline, which are drawn."""
    place = jnp.arange(columns.index.shape[0], dtype=jnp.int32)
    outline = (place >= columns.outline) & (place < columns.inside)
    place = jnp.where(outline, columns.index, jnp.uint32(open_.shape[0]))
    return jnp.pad(open_, (0, 1)).at[place].set(False, mode="promise_in_bounds")[:-1]


def _ends(open_: Chosen, R: Rotation, turned: Rotation, slope: Float32[Array, ""], runs: Runs) -> tuple[Array, Chosen]:
    """Return the marks of both ends of every open column, and the columns whose samples between may be needed too."""
    mark, solid, size = marker(R), open_.solid, open_.index.shape[0]
    lane = jnp.arange(ENDS_CHUNK, dtype=jnp.int32)

    def chunk(k: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        marks, left, count = carry
        first = k * ENDS_CHUNK
        i = jax.lax.dynamic_slice(open_.index, (first,), (ENDS_CHUNK,))
        x, y = (v.at[i].get(mode="promise_in_bounds") for v in (solid.x, solid.y))
        x, y, h, valid = optimization_barrier((x, y, half_depth(x, y), first + lane < open_.count))
        for z in (-h, h):
            marks = mark(marks, (x, y, z, valid))
        heights = [jnp.float32(SCALE) * turned[1, 2] * f * h for f in depth_extremes(solid.seed, i)]
        up, down = -jnp.minimum(*heights), jnp.maximum(*heights)
        cell, below = middles(turned, slope, x, y)
        leaves = valid & ~known(runs, cell, needed(up - below), needed(down + below))
        places, count = _places(leaves, count, size, planes=8)
        return marks, left.at[places].set(i, mode="promise_in_bounds"), count

    chunks = (open_.count + jnp.int32(ENDS_CHUNK - 1)) // jnp.int32(ENDS_CHUNK)
    start = no_marks(), jnp.zeros(size + 1, jnp.uint32), jnp.int32(0)
    marks, left, count = jax.lax.fori_loop(jnp.int32(0), chunks, chunk, start)
    return marks, Chosen(solid=solid, index=left[:-1], count=count)


def _compact(solid: Solid, open_: Bool[Array, "C"]) -> Chosen:
    """Return the open columns, their places in front."""
    size = open_.shape[0]
    places, count = _places(open_, jnp.int32(0), size, planes=32)
    index = jnp.zeros(size + 1, jnp.uint32)
    index = index.at[places].set(jnp.arange(size, dtype=jnp.uint32), mode="promise_in_bounds")
    return Chosen(solid=solid, index=index[:-1], count=count)


def _places(
    chosen: Bool[Array, "n"], first: Int32[Array, ""], nowhere: int, planes: int
) -> tuple[UInt32[Array, "n"], Int32[Array, ""]]:
    """Return a place for each that is chosen, from `first` on, and `nowhere` for the others; and the first free place.

    Counted in interleaved planes, then each to its place: every plane is a step, and a running sum is as long as one.
    """
    ones = optimization_barrier(chosen).reshape(planes, -1).astype(jnp.int32)
    counts = jnp.sum(ones, axis=0, dtype=jnp.int32)
    upto = first + jnp.cumsum(counts, dtype=jnp.int32)

    def place(free: Array, plane: Array) -> tuple[Array, Array]:
        return free + plane, jnp.where(plane != 0, free, jnp.int32(nowhere)).astype(jnp.uint32)

    _, places = jax.lax.scan(place, upto - counts, ones)
    return places.reshape(-1), upto[-1]
