"""The four ground-truth policies of the paper by name."""

import jax
import jax.numpy as jnp

from rotajax.env.actions import INVERSE, ROTATIONS
from rotajax.env.rollout import Policy
from rotajax.env.state import State
from rotajax.env.step import Move
from rotajax.search.oracle import best_by_iou
from rotajax.search.successors import successor_ious, successor_pose_errors
from rotajax.types import Array, Int32, Key


def uniform_random(key: Key[Array, ""], state: State) -> Int32[Array, ""]:
    """Return one of the 24 rotations, each with probability 1/24."""
    del state
    return jax.random.randint(key, (), 0, ROTATIONS, jnp.int32)


def random_rollback(key: Key[Array, ""], state: State) -> Int32[Array, ""]:
    """Return the inverse of a rotation that has just lowered the IoU, otherwise a uniform random rotation.

    The undoing counts as a rotation everywhere. It raises the IoU again, so it is never itself undone.
    """
    undo = jnp.asarray(INVERSE)[jnp.maximum(state.last_action, 0)]
    worsened = (state.decisions > 0) & (state.iou < state.previous_iou)
    return jnp.where(worsened, undo, uniform_random(key, state))


def iou_greedy(key: Key[Array, ""], state: State) -> Move:
    """Return the rotation whose successor has the highest exact IoU, the lowest index on ties, even if it is worse.

    Spans shortlist and the exact renderer decides; faster on tasks that carry their skeletons (`with_skeletons`).
    """
    del key
    columns = state.task.solid if state.task.bones is None else state.task.bones
    choice = best_by_iou(state.task.solid, columns, state.target, state.R)
    return Move(action=choice.best, iou=choice.iou)


def iou_greedy_exact(key: Key[Array, ""], state: State) -> Int32[Array, ""]:
    """Return what `iou_greedy` does, by the exact renderer alone: the plain path that the fast one is held against."""
    del key
    return jnp.argmax(successor_ious(state.task.solid, state.target, state.R)).astype(jnp.int32)


def pose_greedy(key: Key[Array, ""], state: State) -> Int32[Array, ""]:
    """Return the rotation whose successor has the smallest pose error, the lowest index on ties, even if worse."""
    del key
    return jnp.argmin(successor_pose_errors(state.R, state.task.group)).astype(jnp.int32)


POLICIES: dict[str, Policy] = {
    "uniform_random": uniform_random,
    "random_rollback": random_rollback,
    "iou_greedy": iou_greedy,
    "pose_greedy": pose_greedy,
}
# Policies whose episodes differ from seed to seed.
RANDOM_POLICIES = ("uniform_random", "random_rollback")
