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
from rotajax.train.agent import Agent
from rotajax.train.belief import Tables, know_nothing, tables
from rotajax.train.picture import small
from rotajax.train.world import Pictures
from rotajax.types import Array, Int32


def as_seen(observation: Observation) -> Pictures:
    """Return the three pictures of a turn as a policy sees them, 80 x 80."""
    return Pictures(target=small(observation.target), view=small(observation.view), current=small(observation.current))


def episode(task: Task, params: Params, agent: Agent, lookup: Tables) -> Episodes:
    """Return one game of a player."""
    first, observation = reset(task, params)

    def turn(state: State, memory: tuple[Pictures, Array]) -> tuple[State, tuple[Pictures, Array], Int32[Array, ""]]:
        seen, belief = memory
        actions, beliefs = agent.act(jax.tree.map(lambda leaf: leaf[None], seen), belief[None], lookup)
        state, observation = step(state, actions[0], params)
        return state, (as_seen(observation), beliefs[0]), actions[0]

    return play_out(first, (as_seen(observation), know_nothing()), turn)


def play(agent: Agent, tasks: Task, params: Params | None = None) -> Episodes:
    """Return one game of every task, NumPy, leading axis B; spread over the devices. There is nothing random in it."""
    lookup: Any = jax.tree.map(np.asarray, tables())
    return spread(episode)(tasks, params or Params(), agent, lookup)
