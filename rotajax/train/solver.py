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
from rotajax.train.policy import identity, load_agent
from rotajax.train.world import reduced
from rotajax.types import Array


class CheckpointSolver:
    """A solver whose memory is kept an episode, and found again from the history where a run was resumed."""

    def __init__(self, folder: str | Path):
        self.agent = load_agent(folder)
        self.asked = {"checkpoint": identity(folder)}
        self._lookup = jax.device_put(tables())
        self._act = jax.jit(_act)
        # Episode: the turn that its memory is for.
        self._memories: dict[str, tuple[int, Memory]] = {}

    async def __call__(self, question: Question) -> Reply:
        """Return the next rotation."""
        turn, memory = self._memories.pop(question.episode, (0, nothing()))
        if turn != question.turn or not question.condition.history:
            memory = self._found_again(question)
        action, memory = self._turn((question.target, question.view, question.current), memory)
        self._memories[question.episode] = (question.turn + 1, memory)
        return Reply(action=int(action))

    def _found_again(self, question: Question) -> Memory:
        """Return the memory of what a question shows of the turns before it."""
        memory = nothing()
        for earlier in question.history:
            pictures = _unpanelled(earlier, question.view is not None)
            _, memory = self._turn(pictures, memory, np.int32(action_index(earlier.action, earlier.angle)))
        return memory

    def _turn(self, pictures: tuple, memory: Memory, taken: np.int32 | None = None) -> tuple[Array, Memory]:
        target, view, current = pictures
        view = np.full((SIZE, SIZE), BACKGROUND, np.uint8) if view is None else view
        return self._act(self.agent, self._lookup, (target, view, current), memory, taken)


def build(args: argparse.Namespace) -> CheckpointSolver:
    """Return the solver of `--solver checkpoint:DIR`. Raises ValueError for a folder that holds no checkpoint."""
    require_extra()
    require(bool(args.argument), "eval: --solver", "checkpoint:DIR", repr(args.solver))
    return CheckpointSolver(args.argument)


def _act(agent: Agent, lookup: Tables, pictures: tuple, memory: Memory, taken: Array | None) -> tuple[Array, Memory]:
    return acted(agent, reduced(*pictures), memory, lookup, taken)


def _unpanelled(turn: Turn, auxiliary: bool) -> tuple:
    """Return target, view and current of an earlier turn's panel."""
    panel = np.asarray(Image.open(io.BytesIO(turn.panel.png)).convert("L"))
    step = SIZE + STRIP
    columns = [panel[:, k * step : k * step + SIZE] for k in range(3 if auxiliary else 2)]
    first, *view, last = columns
    return first > 127, view[0] if view else None, last > 127
