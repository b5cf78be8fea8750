"""`build`: a trained policy as a solver, playing through the same loop as a model behind an API.

It sees the three pictures of a question, reduced exactly as in training, and the actions that it took before.
"""

import argparse
import io
from pathlib import Path

import jax
import numpy as np
from PIL import Image

from rotajax.checks import require
from rotajax.env.actions import action_index
from rotajax.render.camera import SIZE
from rotajax.render.panel import STRIP
from rotajax.render.shade import BACKGROUND
from rotajax.solvers.question import Question, Turn
from rotajax.solvers.reply import Reply
from rotajax.train.agent import Agent, acted
from rotajax.train.belief import Tables, tables
from rotajax.train.extra import require_extra
from rotajax.train.memory import Memory, nothing
from rotajax.train.picture import small
from rotajax.train.policy import identity, load_agent
from rotajax.train.world import Pictures
from rotajax.types import Array


class CheckpointSolver:
    """A solver whose memory is kept an episode, and found again from the history where a run was resumed."""

    def __init__(self, folder: str | Path):
        self.agent = load_agent(folder)
        self.asked = {"checkpoint": identity(folder)}
        self._lookup = jax.device_put(tables())
        self._act, self._after = jax.jit(_act), jax.jit(_after)
        # Episode: the turn that its memory is for.
        self._memories: dict[str, tuple[int, Memory]] = {}

    async def __call__(self, question: Question) -> Reply:
        """Return the next rotation."""
        turn, memory = self._memories.pop(question.episode, (0, nothing()))
        if not question.condition.history:
            memory = nothing()
        elif turn != question.turn:
            memory = nothing()
            for earlier in question.history:
                pictures = _unpanelled(earlier, question.view is not None)
                action = np.int32(action_index(earlier.action, earlier.angle))
                memory = self._after(self.agent, self._lookup, *_shown(*pictures), memory, action)
        pictures = _shown(question.target, question.view, question.current)
        action, memory = self._act(self.agent, self._lookup, *pictures, memory)
        self._memories[question.episode] = (question.turn + 1, memory)
        return Reply(action=int(action))


def build(args: argparse.Namespace) -> CheckpointSolver:
    """Return the solver of `--solver checkpoint:DIR`. Raises ValueError for a folder that holds no checkpoint."""
    require_extra()
    require(bool(args.argument), "eval: --solver", "checkpoint:DIR", repr(args.solver))
    return CheckpointSolver(args.argument)


def _act(agent: Agent, lookup: Tables, target: Array, view: Array, current: Array, memory: Memory) -> tuple:
    return acted(agent, Pictures(target=small(target), view=small(view), current=small(current)), memory, lookup)


def _after(
    agent: Agent, lookup: Tables, target: Array, view: Array, current: Array, memory: Memory, action: Array
) -> Memory:
    """Return the memory after an action that was taken, whatever would be chosen now."""
    seen = Pictures(target=small(target)[None], view=small(view)[None], current=small(current)[None])
    memory, _, _ = agent.look(seen, jax.tree.map(lambda leaf: leaf[None], memory), lookup)
    return jax.tree.map(lambda leaf: leaf[0], agent.moved(memory, action[None], lookup))


def _shown(target: np.ndarray, view: np.ndarray | None, current: np.ndarray) -> tuple:
    """Return the pictures; a blank view where none is shown."""
    return target, np.full((SIZE, SIZE), BACKGROUND, np.uint8) if view is None else view, current


def _unpanelled(turn: Turn, auxiliary: bool) -> tuple:
    """Return target, view and current of an earlier turn's panel."""
    panel = np.asarray(Image.open(io.BytesIO(turn.panel.png)).convert("L"))
    step = SIZE + STRIP
    columns = [panel[:, k * step : k * step + SIZE] for k in range(3 if auxiliary else 2)]
    first, *view, last = columns
    return first > 127, view[0] if view else None, last > 127
