"""`rollout`: whole episodes of a policy on a batch of tasks, one scan an episode, spread over the local devices."""

import dataclasses
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from rotajax.checks import require
from rotajax.compare import pose_error_deg
from rotajax.devices import spread
from rotajax.env.observe import Renderer
from rotajax.env.state import RUNNING, Params, State, light
from rotajax.env.step import Move, as_move, moved, reset
from rotajax.tasks.suite import Suite
from rotajax.tasks.task import Task
from rotajax.types import Array, Float32, Int32, Key, struct

# Returns the index of an action for a state, or a move; the key is fresh at every decision.
Policy = Callable[[Key[Array, ""], State], Int32[Array, ""] | int | Move]
# Length of the scan: an episode has at most so many decisions whatever `max_decisions` says.
HORIZON = 48
Memory = TypeVar("Memory")


@struct
class Episodes:
    """What happened in a batch of episodes. Entries after the last decision repeat the final state; action -1."""

    action: Int32[Array, "*B T"]
    iou: Float32[Array, "*B T+1"]
    pose_error: Float32[Array, "*B T+1"]
    rotation: Float32[Array, "*B T+1 3 3"]
    decisions: Int32[Array, "*B"]
    steps: Int32[Array, "*B"]
    outcome: Int32[Array, "*B"]


def play_out(
    first: State, memory: Memory, turn: Callable[[State, Memory], tuple[State, Memory, Int32[Array, ""]]]
) -> Episodes:
    """Return the episode from its first state; `turn` gives the next one, what a player remembers, and its action."""
    task, target = first.task, first.target

    def play(carry: tuple[State, Memory]) -> tuple[tuple[State, Memory], Int32[Array, ""]]:
        state, memory, action = turn(dataclasses.replace(carry[0], task=task, target=target), carry[1])
        return (light(state), memory), action

    def body(carry: tuple[State, Memory], _: None) -> tuple[tuple[State, Memory], tuple[Array, ...]]:
        carry, action = jax.lax.cond(carry[0].outcome == RUNNING, play, lambda c: (c, jnp.int32(-1)), carry)
        state = carry[0]
        return carry, (action, state.iou, pose_error_deg(state.R, task.group), state.R)

    (last, _), (action, iou, error, rotation) = jax.lax.scan(body, (light(first), memory), None, length=HORIZON)
    before = (first.iou, pose_error_deg(first.R, task.group), first.R)
    iou, error, rotation = (jnp.concatenate([a[None], b]) for a, b in zip(before, (iou, error, rotation), strict=True))
    return Episodes(
        action=action,
        iou=iou,
        pose_error=error,
        rotation=rotation,
        decisions=last.decisions,
        steps=last.steps,
        outcome=last.outcome,
    )


def episode(
    policy: Policy, task: Task, key: Key[Array, ""], params: Params, *, renderer: Renderer | None = None
) -> Episodes:
    """Return one episode of a policy; the key is folded with the task's seed, so that order and batch do not matter."""
    key = jax.random.fold_in(key, jnp.asarray(task.solid.seed))
    first, _ = reset(task, params, renderer=renderer)

    def turn(state: State, memory: tuple) -> tuple[State, tuple, Int32[Array, ""]]:
        move = as_move(policy(jax.random.fold_in(key, state.decisions), state))
        return moved(state, move, params, renderer=renderer), memory, move.action

    return play_out(first, (), turn)


@cache
def _one(policy: Policy, renderer: Renderer | None) -> Callable[[Task, Key[Array, ""], Params], Episodes]:
    """Return the episode of a policy as a function of one task; cached, since the function keys the compilation."""
    return partial(episode, policy, renderer=renderer)


def rollout(
    policy: Policy,
    suite: Suite | Task,
    key: Key[Array, ""],
    params: Params | None = None,
    *,
    renderer: Renderer | None = None,
    mesh: Mesh | None = None,
) -> Episodes:
    """Return one episode of a policy for every task of a suite (or of a batch of tasks), NumPy, leading axis B.

    The batch is spread over the devices of `mesh` (default: all, CPU cores as host devices among them). The same task
    and key give the same episode in any batch on any number of devices. Raises ValueError for more than 48 decisions.
    """
    params = params or Params()
    require(int(params.max_decisions) <= HORIZON, "rollout: max_decisions", f"at most {HORIZON}", params.max_decisions)
    tasks = suite.tasks if isinstance(suite, Suite) else suite
    return spread(_one(policy, renderer), mesh=mesh)(tasks, key, params)
