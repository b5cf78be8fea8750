"""`build`: a trained policy as a solver, playing through the same loop as a model behind an API.

It sees the three pictures of a question, reduced exactly as in training, and the actions that it took before.
"""

import argparse
import io
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

from rotajax.checks import require
from rotajax.env.actions import action_index
from rotajax.render.camera import SIZE
from rotajax.render.panel import STRIP
from rotajax.render.shade import BACKGROUND
from rotajax.solvers.question import Question, Turn
from rotajax.solvers.reply import Reply
from rotajax.train.agent import Agent
from rotajax.train.belief import Tables, know_nothing, tables
from rotajax.train.extra import require_extra
from rotajax.train.picture import small
from rotajax.train.policy import identity, load_agent
from rotajax.train.world import Pictures
from rotajax.types import Array


class CheckpointSolver:
    """A solver whose beliefs are kept an episode, and found again from the history where a run was resumed."""

    def __init__(self, folder: str | Path):
        self.agent = load_agent(folder)
        self.asked = {"checkpoint": identity(folder)}
        self._lookup = jax.device_put(tables())
        self._act = jax.jit(_act)
        # Episode: the turn that its belief is for.
        self._beliefs: dict[str, tuple[int, Array]] = {}

    async def __call__(self, question: Question) -> Reply:
        """Return the next rotation."""
        turn, belief = self._beliefs.pop(question.episode, (0, know_nothing()))
        if not question.condition.history:
            belief = know_nothing()
        elif turn != question.turn:
            belief = know_nothing()
            for earlier in question.history:
                view = question.view is not None
                pictures = _unpanelled(earlier, view)
                _, seen = self._look(pictures, belief)
                belief = self._moved(seen, action_index(earlier.action, earlier.angle))
        action, seen = self._look((question.target, question.view, question.current), belief)
        self._beliefs[question.episode] = (question.turn + 1, self._moved(seen, action))
        return Reply(action=action)

    def _look(self, pictures: tuple, belief: Array) -> tuple[int, Array]:
        target, view, current = pictures
        view = np.full((SIZE, SIZE), BACKGROUND, np.uint8) if view is None else view
        action, seen = self._act(self.agent, self._lookup, target, view, current, belief)
        return int(action), seen

    def _moved(self, belief: Array, action: int) -> Array:
        return Agent.move(belief[None], jnp.array([action], jnp.int32), self._lookup)[0]


def build(args: argparse.Namespace) -> CheckpointSolver:
    """Return the solver of `--solver checkpoint:DIR`. Raises ValueError for a folder that holds no checkpoint."""
    require_extra()
    require(bool(args.argument), "eval: --solver", "checkpoint:DIR", repr(args.solver))
    return CheckpointSolver(args.argument)


def _act(agent: Agent, lookup: Tables, target: Array, view: Array, current: Array, belief: Array) -> tuple:
    seen = Pictures(target=small(target)[None], view=small(view)[None], current=small(current)[None])
    beliefs, values, offsets = agent.look(seen, belief[None], lookup)
    return agent.choose(beliefs, values, offsets, lookup)[0], beliefs[0]


def _unpanelled(turn: Turn, auxiliary: bool) -> tuple:
    """Return target, view and current of an earlier turn's panel."""
    panel = np.asarray(Image.open(io.BytesIO(turn.panel.png)).convert("L"))
    step = SIZE + STRIP
    columns = [panel[:, k * step : k * step + SIZE] for k in range(3 if auxiliary else 2)]
    first, *view, last = columns
    return first > 127, view[0] if view else None, last > 127
