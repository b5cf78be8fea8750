"""`play`: whole games of a trained player by the exact rules: exact silhouettes, exact auxiliary views."""

from typing import Any

import jax
import numpy as np

from rotajax.devices import spread
from rotajax.env.observe import Observation
from rotajax.env.rollout import Episodes, play_out
from rotajax.env.state import Params, State
from rotajax.env.step import reset, step
from rotajax.tasks.task import Task
from rotajax.train.agent import Agent, acted
from rotajax.train.belief import Tables, tables
from rotajax.train.memory import Memory, nothing
from rotajax.train.world import Pictures, reduced
from rotajax.types import Array, Int32


def as_seen(observation: Observation) -> Pictures:
    """Return the three pictures of a turn as a policy sees them, 80 x 80."""
    return reduced(observation.target, observation.view, observation.current)


def episode(task: Task, params: Params, agent: Agent, lookup: Tables) -> Episodes:
    """Return one game of a player."""
    first, observation = reset(task, params)

    def turn(state: State, known: tuple[Pictures, Memory]) -> tuple[State, tuple[Pictures, Memory], Int32[Array, ""]]:
        action, memory = acted(agent, *known, lookup)
        state, observation = step(state, action, params)
        return state, (as_seen(observation), memory), action

    return play_out(first, (as_seen(observation), nothing()), turn)


def play(agent: Agent, tasks: Task, params: Params | None = None) -> Episodes:
    """Return one game of every task, NumPy, leading axis B; spread over the devices. There is nothing random in it."""
    lookup: Any = jax.tree.map(np.asarray, tables())
    return spread(episode)(tasks, params or Params(), agent, lookup)
