"""The decision-exact oracle: the best of 24 successors by exact IoU, at the cost of spans."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import jax
import jax.numpy as jnp

from rotajax.compare import iou
from rotajax.geometry.solid import Solid
from rotajax.render.certified import completed, drafted
from rotajax.render.packed import close_cross, pack
from rotajax.render.skeleton import Skeleton
from rotajax.render.splat import splat_packed
from rotajax.search.score import Goal, halved, make_goal, span_iou
from rotajax.search.successors import successor_poses
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, UInt32, struct

# Above what benchmarks/margin.py has measured. In half-size spans the winner was at most 0.0173 below the best (25,000
# states). An exact IoU is at most so much above that of the samples drafted first: 0.0007 in 380,000 poses, but up to
# 0.002 within a fifth of a degree of the target, where all samples of a column fall on one pixel.
COARSE_MARGIN = 0.025
ABOVE_SPARSE = 0.001
CLOSE, ABOVE_SPARSE_CLOSE = 0.95, 0.004
# Whole spans are asked about those who are more than BEHIND below the best in half-size ones. Two poses of a solid
# whose span IoUs, by its skeleton, differ by more than PAIR_MARGIN are in the order of their exact IoUs (largest
# difference of two errors: 0.0070); an exact IoU is at most so much above the span's (0.0056).
BEHIND = 0.008
PAIR_MARGIN = 0.01
ABOVE_SPAN = 0.008
# Of no IoU.
ANY = 2.0
Drawn = TypeVar("Drawn")


@struct
class Choice:
    """The best successor and what was known when it was chosen."""

    best: Int32[Array, ""]  # its action, the lowest on ties of exact IoU
    iou: Float32[Array, ""]  # its exact IoU; NaN where it was the only one left, and not drawn exactly
    ious: Float32[Array, "A"]  # the best known of each: exact, of some samples, of (half-size) spans
    settled: Int32[Array, ""]  # how many successors were drawn exactly


@struct
class _Race:
    """What is known of the successors so far."""

    ious: Float32[Array, "A"]
    most: Float32[Array, "A"]  # the exact IoU is at most this; -1 for those out of the race
    exact: Bool[Array, "A"]  # whether it is known


def best_by_iou(
    solid: Solid,
    columns: Solid | Skeleton,
    target: Mask,
    R: Rotation,
    *,
    margin: float = PAIR_MARGIN,
    coarse_margin: float = COARSE_MARGIN,
) -> Choice:
    """Return the successor of a pose with the highest exact IoU.

    With the solid's skeleton as `columns`, half-size spans shortlist: who is more than `coarse_margin` below the best
    in them cannot win, nor who is more than `margin` below in whole spans, which are asked about those behind. Of the
    others some samples are drafted; who may be highest is completed to the exact silhouette, again and again, until an
    exact IoU is above what any other may have. With the solid itself spans shortlist within `margin`, and the exact
    renderer settles. Solids of fewer columns than pixels, whose samples leave gaps, are drawn exactly; the margins are
    those of columns spread evenly, as an icon's are.
    """
    poses, goal = successor_poses(R), pack(target)
    dense = solid.count >= jnp.sum(target, dtype=jnp.int32)

    def allowed(most: float) -> Array:
        return jnp.where(dense, jnp.float32(most), jnp.float32(ANY))

    if isinstance(columns, Skeleton):
        rough = _span_ious(columns, poses, make_goal(halved(target)))
        contender = rough >= jnp.max(rough) - allowed(coarse_margin)
        contender = _spanned(columns, poses, make_goal(target), rough, contender, allowed(margin))
        contested = _several(contender)
        wanted = contender & contested
        drafts, ious = _drafts(columns, poses, goal, wanted)
        rough = jnp.where(wanted, ious, rough)
        most = rough + jnp.where(rough > jnp.float32(CLOSE), allowed(ABOVE_SPARSE_CLOSE), allowed(ABOVE_SPARSE))

        def exact(i: Array) -> Array:
            return completed(solid, columns, poses[i], drafts[i])
    else:
        rough = _span_ious(columns, poses, make_goal(target))
        contender = rough >= jnp.max(rough) - allowed(margin)
        contested = _several(contender)
        most = rough + allowed(ABOVE_SPAN)

        def exact(i: Array) -> Array:
            return splat_packed(solid, poses[i])

    def settle(race: _Race) -> _Race:
        i = jnp.argmax(_waiting(race))
        found = iou(exact(i), goal)
        return _Race(ious=race.ious.at[i].set(found), most=race.most, exact=race.exact.at[i].set(True))

    race = _Race(ious=rough, most=jnp.where(contender, most, jnp.float32(-1)), exact=jnp.zeros(rough.shape, bool))
    race = jax.lax.while_loop(lambda r: contested & (jnp.max(_waiting(r)) >= jnp.max(_known(r))), settle, race)
    best = jnp.argmax(jnp.where(contested, _known(race), race.most)).astype(jnp.int32)
    known = jnp.where(contested, race.ious[best], jnp.float32(jnp.nan))
    return Choice(best=best, iou=known, ious=race.ious, settled=jnp.sum(race.exact, dtype=jnp.int32))


def _span_ious(columns: Solid | Skeleton, poses: Float32[Array, "A 3 3"], goal: Goal) -> Float32[Array, "A"]:
    return jax.lax.map(lambda pose: span_iou(columns, pose, goal), poses)


def _several(contender: Bool[Array, "A"]) -> Bool[Array, ""]:
    return jnp.sum(contender, dtype=jnp.int32) > 1


def _spanned(
    columns: Skeleton,
    poses: Float32[Array, "A 3 3"],
    goal: Goal,
    rough: Float32[Array, "A"],
    contender: Bool[Array, "A"],
    margin: Array,
) -> Bool[Array, "A"]:
    """Return the contenders without those that whole spans rule out, of who is more than BEHIND below the best.

    A span costs two thirds of a draft: worth it for who is likely to go.
    """
    behind = contender & (rough < jnp.max(rough) - jnp.float32(BEHIND))
    looked = behind | (jnp.arange(len(rough)) == jnp.argmax(rough))
    draw = partial(span_iou, columns, goal=goal)
    spans = _of_some(draw, jnp.float32(-1), poses, looked & jnp.any(behind))
    return contender & (~behind | (spans >= jnp.max(spans) - margin))


def _drafts(
    columns: Skeleton, poses: Float32[Array, "A 3 3"], goal: UInt32[Array, "H words"], wanted: Bool[Array, "A"]
) -> tuple[UInt32[Array, "A 10 320"], Float32[Array, "A"]]:
    """Return the disks of some samples of those that are wanted, and their IoUs; zeros of the others."""

    def draft(pose: Rotation) -> tuple[Array, Array]:
        drawn = drafted(columns, pose)
        return drawn, iou(close_cross(drawn).T, goal)

    nothing = jnp.zeros((10, 320), jnp.uint32), jnp.float32(0)
    return _of_some(draft, nothing, poses, wanted)


def _of_some(draw: Callable[[Rotation], Drawn], nothing: Drawn, poses: Array, wanted: Array) -> Drawn:
    """Return what is drawn of the poses that are wanted, and `nothing` of the others, which cost nothing on a CPU."""
    return jax.lax.map(lambda one: jax.lax.cond(one[1], lambda: draw(one[0]), lambda: nothing), (poses, wanted))


def _waiting(race: _Race) -> Float32[Array, "A"]:
    """Return the most that the IoU of each successor not yet drawn exactly may be."""
    return jnp.where(race.exact, jnp.float32(-1), race.most)


def _known(race: _Race) -> Float32[Array, "A"]:
    """Return the exact IoUs; below any, yet above those out of the race, where there is none."""
    return jnp.where(race.exact, race.ious, jnp.float32(-0.5))
