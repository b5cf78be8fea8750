"""Players of the endpoint: each answers from the pictures and texts of a request, and the same request the same way."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from rotajax.checks import require_member
from rotajax.env.actions import ACTIONS, ROTATIONS, STOP
from rotajax.solvers.fake.asked import Asked, BadRequest
from rotajax.solvers.fake.pictures import colour, is_panel, read_picture

# Returns the text of an answer, or a whole message of the protocol, such as one with tool calls.
Player = Callable[[Asked], Awaitable[str | dict[str, Any]]]


def answer(action: int, text: str) -> str:
    """Return an answer in the form that the prompt asks for."""
    name, angle = ACTIONS[action]
    return json.dumps({"cot": text, "type": name, "angle": angle})


def random_player(seed: int = 0) -> Player:
    """Return a player that draws one of the 24 rotations by a hash of the pictures, whatever order they come in."""

    async def play(asked: Asked) -> str:
        if not asked.pictures:
            raise BadRequest("expected a picture", "messages")
        draw = hashlib.sha256(f"{seed} {asked.chain}".encode()).digest()
        action = int.from_bytes(draw[:8]) % ROTATIONS
        return answer(action, f"Drawn at random from the picture {asked.hashes[-1][:12]}.")

    return play


async def stop_player(asked: Asked) -> str:
    """Answer STOP."""
    return answer(STOP, "No idea remains.")


def seeing(player: Player) -> Player:
    """Return a player that also says which colour a picture has that is no panel, as a first call may ask."""

    async def play(asked: Asked) -> str | dict[str, Any]:
        if asked.pictures:
            pixels = await asyncio.to_thread(read_picture, asked.pictures[-1])
            if not is_panel(pixels):
                return colour(pixels)
        return await player(asked)

    return play


PLAYS = ("random", "pixels", "pose_greedy", "iou_greedy", "stop")


def make_player(play: str, *, suite: str | None = None, seed: int = 0) -> Player:
    """Return a player by name. pose_greedy and iou_greedy know the suite that they are asked about; the others do not.

    Raises ValueError for an unknown name, and for a policy without a suite.
    """
    require_member(play, PLAYS, "serve-fake: --play")
    if play == "random":
        return seeing(random_player(seed))
    if play == "stop":
        return seeing(stop_player)
    if play == "pixels":
        from rotajax.solvers.fake.pixels import pixel_player

        return seeing(pixel_player())
    from rotajax.solvers.fake.policy import policy_player

    return seeing(policy_player(play, suite))
