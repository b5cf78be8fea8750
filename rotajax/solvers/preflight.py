"""`preflight`: one small real call before a run, that tells what is wrong in one line."""

import base64
import dataclasses
import io
from collections.abc import Awaitable, Callable
from typing import Any

from PIL import Image

from rotajax.solvers.client import EndpointError
from rotajax.solvers.completion import Completion
from rotajax.solvers.reply import InfrastructureError

# A full history has a panel for each of the 48 decisions.
PICTURES = 48
# Pixels a side: few tokens, and more than the 28 that some models need at least.
SIDE = 64
COLOUR, NAME = (220, 30, 30), "red"
# How a call is made: a client's `complete`, or one whose answers are recorded and paid.
Ask = Callable[[list[dict[str, Any]]], Awaitable[Completion]]
QUESTION = 'Which colour is this picture? Answer with a JSON object: {"colour": "..."}'


@dataclasses.dataclass(frozen=True)
class Preflight:
    """What a first call showed: `sees` is whether the model named the colour of the picture that it was sent."""

    model: str | None  # as the server names it
    seconds: float
    sees: bool
    completion: Completion

    @property
    def warning(self) -> str | None:
        """One line where the model took the pictures and may not see them, else None."""
        if self.sees:
            return None
        said = (self.completion.refusal or self.completion.text)[:80]
        return f"the model was shown a {NAME} picture and answered {said!r}: does it see pictures?"


async def preflight(ask: Ask, *, pictures: int = PICTURES) -> Preflight:
    """Return what a call with `pictures` small pictures shows; 1 is enough for a run without history.

    ask: makes the calls: usually one, more where the first is refused.

    Raises EndpointError whose kind is "key", "model", "address", "unreachable", "no_images", "too_many_images" or
    "refused", each with one line; Stopped for an exhausted quota; InfrastructureError for a server that is there and
    fails, such as one that is overloaded.
    """
    try:
        completion = await ask(_messages(pictures))
    except InfrastructureError as error:
        if error.kind == "unreachable":
            raise EndpointError("unreachable", f"base-url: expected a server that answers, got {error}") from None
        if error.kind not in ("bad_request", "server_error", "too_long"):
            raise
        # Some servers fail with 500 on a picture that their model cannot take.
        await _explain(ask, pictures, error)
        raise
    return Preflight(completion.model, completion.seconds, NAME in completion.text.lower(), completion)


async def _explain(ask: Ask, pictures: int, error: InfrastructureError) -> None:
    """Ask for less until it is answered, and raise EndpointError with what was too much."""
    if pictures > 1 and await _works(ask, 1):
        expected = f"model: expected one that takes {pictures} pictures in a request, one a decision of the history"
        raise EndpointError("too_many_images", f"{expected}, got {error}")
    if await _works(ask, 0):
        raise EndpointError("no_images", f"model: expected one that takes pictures, got {error}")
    if error.kind != "server_error":
        raise EndpointError("refused", f"request: expected an answer, got {error}")


async def _works(ask: Ask, pictures: int) -> bool:
    try:
        await ask(_messages(pictures))
    except InfrastructureError:
        return False
    return True


def _messages(pictures: int) -> list[dict[str, Any]]:
    file = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), COLOUR).save(file, "PNG")
    url = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    images = [{"type": "image_url", "image_url": {"url": url}}] * pictures
    return [{"role": "user", "content": [{"type": "text", "text": QUESTION}, *images]}]
