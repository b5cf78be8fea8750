"""A player that asks the pixel solver: it knows the construction rule and the request's pictures, and nothing else."""

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

from rotajax.env.actions import STOP
from rotajax.solvers.fake.asked import Asked, BadRequest, chain
from rotajax.solvers.fake.pictures import read_panel, read_picture
from rotajax.solvers.fake.players import Player, answer
from rotajax.solvers.pixels.look import Memory, look
from rotajax.solvers.pixels.solver import BLIND
from rotajax.solvers.question import CONDITIONS, Panel, Question, Turn

# Episodes that are remembered, some 2 MB each.
MEMORIES = 128


def pixel_player() -> Player:
    """Return the player. What it remembers of an episode it can make again from the history in the request, so that the
    same request gets the same answer after a restart too.
    """
    seen: OrderedDict[str, tuple[str, Memory | None]] = OrderedDict()  # answer and memory by the pictures so far

    def act(asked: Asked) -> str:
        if not asked.pictures:
            raise BadRequest("expected a picture", "messages")
        last, named = len(asked.pictures) - 1, asked.actions
        whole = len(named) == last
        keys = [chain(asked.hashes[: turn + 1]) for turn in range(last + 1)]
        first, said, memory = 0 if whole else last, "", None
        known = next((turn for turn in range(last, -1, -1) if keys[turn] in seen), None)
        if known is not None:
            first, (said, memory) = known + 1, seen.pop(keys[known])
        for turn in range(first, last + 1):
            said, memory = _look(_question(asked, turn, named[:turn] if whole else []), memory)
        # The last turn alone: the next request goes on from it, or is the same again.
        seen[keys[last]] = said, memory
        while len(seen) > MEMORIES:
            seen.popitem(last=False)
        return said

    # One thread: the memories are its own.
    worker = ThreadPoolExecutor(1, thread_name_prefix="pixels")

    async def play(asked: Asked) -> str:
        return await asyncio.get_running_loop().run_in_executor(worker, act, asked)

    return play


def _question(asked: Asked, turn: int, named: list[tuple[str, int]]) -> Question:
    """Return the question of a turn after the named actions."""
    panels = [Panel(png, name) for png, name in zip(asked.pictures, asked.hashes, strict=True)]
    pictures = read_panel(read_picture(panels[turn].png))
    return Question(
        episode="",
        turn=turn,
        seed=0,
        target=pictures.target,
        view=pictures.view,
        current=pictures.current,
        panel=panels[turn],
        history=tuple(Turn(panel, *action, "") for panel, action in zip(panels, named, strict=False)),
        condition=CONDITIONS["no_auxiliary" if pictures.view is None else "full"],
    )


def _look(question: Question, memory: Memory | None) -> tuple[str, Memory | None]:
    try:
        reply, memory = look(question, memory)
    except ValueError as error:
        return answer(BLIND, f"The pictures cannot be read ({error})."), None
    return answer(STOP if reply.action is None else reply.action, reply.text), memory
