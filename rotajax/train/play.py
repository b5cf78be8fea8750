"""`play`: whole games of a trained player by the exact rules: exact silhouettes, exact auxiliary views."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.compare import pose_error_deg
from rotajax.devices import spread
from rotajax.env.observe import Observation
from rotajax.env.rollout import HORIZON, Episodes
from rotajax.env.state import RUNNING, Params, State
from rotajax.env.step import reset, step
from rotajax.tasks.task import Task
from rotajax.train.agent import Agent
from rotajax.train.belief import Tables, know_nothing, tables
from rotajax.train.picture import small
from rotajax.train.world import Pictures
from rotajax.types import Array


def as_seen(observation: Observation) -> Pictures:
    """Return the three pictures of a turn as a policy sees them, 80 x 80."""
    return Pictures(target=small(observation.target), view=small(observation.view), current=small(observation.current))


def episode(task: Task, params: Params, agent: Agent, lookup: Tables) -> Episodes:
    """Return one game of a player."""
    first, observation = reset(task, params)
    target = first.target

    def light(state: State) -> State:
        return dataclasses.replace(state, task=None, target=None)  # type: ignore[arg-type]

    def turn(carry: tuple) -> tuple[tuple, Array]:
        state, seen, belief = carry
        actions, beliefs = agent.act(jax.tree.map(lambda leaf: leaf[None], seen), belief[None], lookup)
        full = dataclasses.replace(state, task=task, target=target)
        state, observation = step(full, actions[0], params)
        return (light(state), as_seen(observation), beliefs[0]), actions[0]

    def body(carry: tuple, _: None) -> tuple[tuple, tuple]:
        going = carry[0].outcome == RUNNING
        carry, action = jax.lax.cond(going, turn, lambda c: (c, jnp.int32(-1)), carry)
        state = carry[0]
        return carry, (action, state.iou, pose_error_deg(state.R, task.group), state.R)

    start = (light(first), as_seen(observation), know_nothing())
    (last, *_), (action, iou, error, rotation) = jax.lax.scan(body, start, None, length=HORIZON)
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


def play(agent: Agent, tasks: Task, params: Params | None = None) -> Episodes:
    """Return one game of every task, NumPy, leading axis B; spread over the devices. There is nothing random in it."""
    tasks = dataclasses.replace(tasks, bones=None)
    lookup: Any = jax.tree.map(np.asarray, tables())
    return spread(episode)(tasks, params or Params(), agent, lookup)
