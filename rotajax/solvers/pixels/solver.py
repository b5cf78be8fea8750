"""`pixel_solver`: plays from the pictures alone. It knows the construction rule, and no ground truth."""

import asyncio
import logging
from argparse import Namespace
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from rotajax.checks import require_at_least
from rotajax.env.actions import action_index
from rotajax.solvers.pixels.look import Memory, look
from rotajax.solvers.question import Question
from rotajax.solvers.reply import Reply, Solver

# What its results are labelled with: beyond the pictures, which a model gets too.
KNOWS = "construction rule; no ground truth"
# A move for pictures that tell nothing: the next ones may.
BLIND = action_index("YAW_POS", 30)


class _PixelSolver:
    """A solver whose looks run in threads; memories of the episodes in flight, the least recently asked dropped."""

    asked: ClassVar = {"solver": "pixels", "knows": KNOWS}

    def __init__(self, workers: int, episodes: int):
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pixels")
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._episodes = episodes

    async def __call__(self, question: Question) -> Reply:
        memory = self._memories.pop(question.episode, None)
        try:
            reply, memory = await asyncio.get_running_loop().run_in_executor(self._pool, look, question, memory)
        except ValueError as error:
            return _blind(question, error)
        self._memories[question.episode] = memory
        while len(self._memories) > self._episodes:
            self._memories.popitem(last=False)
        return reply

    async def aclose(self) -> None:
        """Let running looks end and free the threads."""
        await asyncio.to_thread(self._pool.shutdown)


def pixel_solver(*, workers: int = 2, episodes: int = 128) -> Solver:
    """Return a solver that rebuilds the solid from the target, finds the pose that explains the pictures and plans.

    workers: looks at the same time; episodes: how many memories are kept, some 2 MB each; an episode without one, when
    a run is resumed say, starts from its current pictures. Pictures of which no solid can be made (an empty target,
    another size) are answered with a legal move and the reason in the text; those that no pose explains with the plan
    of the least bad pose, marked `convincing: false`.
    """
    require_at_least(workers, 1, "pixel_solver: workers")
    require_at_least(episodes, 1, "pixel_solver: episodes")
    return _PixelSolver(workers, episodes)


def build(args: Namespace) -> Solver:
    """Return the solver for a command line's options, of which it needs none."""
    del args
    return pixel_solver()


def _blind(question: Question, error: ValueError) -> Reply:
    logging.getLogger(__name__).warning("turn %d of episode %s: %s", question.turn, question.episode, error)
    fields = {"convincing": False, "unreadable": str(error)}
    return Reply(action=BLIND, text=f"The pictures cannot be read ({error}); turning to see others.", fields=fields)
