"""The decision-exact oracle: the best of 24 successors by exact IoU, at the cost of spans."""

from functools import partial

import jax
import jax.numpy as jnp

from rotajax.compare import iou
from rotajax.geometry.solid import Solid
from rotajax.render.certified import completed, drafted
from rotajax.render.packed import close_cross, pack
from rotajax.render.skeleton import Skeleton
from rotajax.render.splat import splat_packed
from rotajax.search.score import halved, make_goal, span_iou
from rotajax.search.successors import successor_poses
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, struct

# Above what benchmarks/margin.py has measured. In half-size spans the winner was at most 0.0173 below the best (10,000
# states of 500 icons). Two poses of one solid whose span IoUs differ by more than PAIR_MARGIN are in the order of their
# exact IoUs (largest difference of two errors: 0.0063, in 50,000 poses). An exact IoU is at most so much above the
# span's (0.0035, in 100,000), or above that of the samples drafted first (0.0007, in 50,000).
COARSE_MARGIN = 0.025
PAIR_MARGIN = 0.01
ABOVE_SPAN = 0.008
ABOVE_SPARSE = 0.0015
# Of no IoU.
ANY = 2.0
# How far a successor has been drawn.
SPAN, SPARSE, EXACT = range(3)


@struct
class Choice:
    """The best successor and what was known when it was chosen."""

    best: Int32[Array, ""]  # its action, the lowest on ties of exact IoU
    iou: Float32[Array, ""]  # its exact IoU; NaN where it was the only one left, and not drawn exactly
    ious: Float32[Array, "A"]  # the best known of each: exact, of some samples, of spans, of half-size spans
    settled: Int32[Array, ""]  # how many successors were drawn exactly


@struct
class _Draft:
    """What is known of the successors so far."""

    ious: Float32[Array, "A"]
    most: Float32[Array, "A"]  # the exact IoU is at most this; -1 for those out of the race
    stage: Int32[Array, "A"]
    drawn: Array  # the disks of some samples, UInt32[A, 10, 320], of those at SPARSE or beyond


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

    Spans of `columns` (the solid's skeleton, or the solid itself) shortlist, of a skeleton in half-size pictures first:
    a successor whose span IoU is more than `margin`, there `coarse_margin`, below the best cannot win. Where more than
    one is left, the one that may be highest is drawn more exactly, again and again, until an exact IoU is above what
    any other may have. A skeleton gives a stage between. Solids of fewer columns than pixels, whose samples leave gaps,
    are drawn exactly.
    """
    poses, goal = successor_poses(R), pack(target)
    dense = solid.count >= jnp.sum(target, dtype=jnp.int32)
    near, coarse_near, above = (
        jnp.where(dense, jnp.float32(m), jnp.float32(ANY)) for m in (margin, coarse_margin, ABOVE_SPAN)
    )
    rough, contender = _shortlist(columns, target, poses, near, coarse_near)
    start = _Draft(
        ious=rough,
        most=jnp.where(contender, rough + above, jnp.float32(-1)),
        stage=jnp.full(rough.shape, SPAN, jnp.int32),
        drawn=jnp.zeros((len(poses), 10, 320) if isinstance(columns, Skeleton) else (0,), jnp.uint32),
    )
    step = _refined if isinstance(columns, Skeleton) else _settled
    contested = jnp.sum(contender, dtype=jnp.int32) > 1
    done = jax.lax.while_loop(
        lambda draft: contested & (jnp.max(_waiting(draft)) >= jnp.max(_exact(draft))),
        partial(step, solid, columns, goal, poses),
        start,
    )
    best = jnp.argmax(jnp.where(contested, _exact(done), start.most)).astype(jnp.int32)
    known = jnp.where(contested, done.ious[best], jnp.float32(jnp.nan))
    return Choice(best=best, iou=known, ious=done.ious, settled=jnp.sum(done.stage == EXACT, dtype=jnp.int32))


def _shortlist(
    columns: Solid | Skeleton, target: Mask, poses: Float32[Array, "A 3 3"], margin: Array, coarse_margin: Array
) -> tuple[Float32[Array, "A"], Bool[Array, "A"]]:
    """Return the successors' IoUs by spans, and which of them may win."""
    fine = make_goal(target)
    if not isinstance(columns, Skeleton):
        rough = jax.lax.map(lambda pose: span_iou(columns, pose, fine), poses)
        return rough, rough >= jnp.max(rough) - margin
    small = make_goal(halved(target))
    rough = jax.lax.map(lambda pose: span_iou(columns, pose, small), poses)
    left = rough >= jnp.max(rough) - coarse_margin
    drawn = jax.lax.map(
        lambda one: jax.lax.cond(one[1], lambda: span_iou(columns, one[0], fine), lambda: jnp.float32(-1)),
        (poses, left),
    )
    return jnp.where(left, drawn, rough), drawn >= jnp.maximum(jnp.max(drawn) - margin, jnp.float32(0))


def _waiting(draft: _Draft) -> Float32[Array, "A"]:
    """Return the most that the IoU of each successor not yet drawn exactly may be."""
    return jnp.where(draft.stage < EXACT, draft.most, jnp.float32(-1))


def _exact(draft: _Draft) -> Float32[Array, "A"]:
    """Return the exact IoUs; below any, yet above those out of the race, where there is none."""
    return jnp.where(draft.stage == EXACT, draft.ious, jnp.float32(-0.5))


def _refined(solid: Solid, columns: Skeleton, goal: Array, poses: Array, draft: _Draft) -> _Draft:
    """Return the draft after one more drawing: some samples of the skeleton first, then the exact silhouette."""
    i = jnp.argmax(_waiting(draft))

    def sparse() -> tuple[Array, Array, Array]:
        drawn = drafted(columns, poses[i])
        found = iou(close_cross(drawn).T, goal)
        return found, found + jnp.float32(ABOVE_SPARSE), drawn

    def exact() -> tuple[Array, Array, Array]:
        found = iou(completed(solid, columns, poses[i], draft.drawn[i]), goal)
        return found, found, draft.drawn[i]

    found, most, drawn = jax.lax.cond(draft.stage[i] == SPAN, sparse, exact)
    return _Draft(
        ious=draft.ious.at[i].set(found),
        most=draft.most.at[i].set(most),
        stage=draft.stage.at[i].add(jnp.int32(1)),
        drawn=draft.drawn.at[i].set(drawn),
    )


def _settled(solid: Solid, columns: Solid, goal: Array, poses: Array, draft: _Draft) -> _Draft:
    """Return the draft after one more exact drawing."""
    del columns
    i = jnp.argmax(_waiting(draft))
    found = iou(splat_packed(solid, poses[i]), goal)
    return _Draft(
        ious=draft.ious.at[i].set(found),
        most=draft.most.at[i].set(found),
        stage=draft.stage.at[i].set(jnp.int32(EXACT)),
        drawn=draft.drawn,
    )
