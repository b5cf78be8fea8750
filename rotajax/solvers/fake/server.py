"""`make_app`: the endpoint itself: `/v1/chat/completions` and `/v1/models` over HTTP."""

import asyncio
import dataclasses
from collections.abc import Collection

from rotajax.solvers.fake.answers import make_answer, make_error
from rotajax.solvers.fake.asked import Asked, BadRequest, read_request
from rotajax.solvers.fake.faults import Faults
from rotajax.solvers.fake.log import AnswerLog
from rotajax.solvers.fake.players import Player
from rotajax.solvers.http import web

# Bytes of a request: 48 panels are 2 MiB.
LARGEST = 256 * 2**20


@dataclasses.dataclass(frozen=True)
class Manners:
    """What the endpoint insists on, as real ones do."""

    model: str = "fake"
    key: str | None = None  # None takes any
    refused: Collection[str] = ()  # parameters that are answered with 400
    max_images: int | None = None
    sees: bool = True  # takes pictures at all


def make_app(
    player: Player, *, manners: Manners | None = None, faults: Faults | None = None, log: AnswerLog | None = None
) -> web.Application:
    """Return the endpoint as an application. A player's BadRequest is answered with status 400."""
    manners, faults, log = manners or Manners(), faults or Faults(), log or AnswerLog()

    async def complete(request: web.Request) -> web.StreamResponse:
        if refusal := _unauthorised(request, manners):
            return refusal
        try:
            asked = await asyncio.to_thread(read_request, await request.read())
            _require_manners(asked, manners)
        except BadRequest as error:
            return make_error(404 if error.code == "model_not_found" else 400, str(error), error.code, error.param)
        attempt = log.begin(asked.content)
        fault = faults.of(asked.content, attempt)
        response, status = None, 0
        try:
            response = await make_answer(request, asked, player, faults, fault)
            status = response.status
        except BadRequest as error:
            response, status = make_error(400, str(error), error.code, error.param), 400
        finally:
            log.end(
                content=asked.content,
                chain=asked.chain,
                pictures=len(asked.pictures),
                last=asked.hashes[-1] if asked.hashes else None,
                attempt=attempt,
                fault=fault,
                status=status,
            )
        return response

    async def models(request: web.Request) -> web.Response:
        return _unauthorised(request, manners) or web.json_response(
            {"object": "list", "data": [{"id": manners.model, "object": "model", "owned_by": "rotajax"}]}
        )

    async def close(app: web.Application) -> None:
        log.close()

    app = web.Application(client_max_size=LARGEST)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/models", models)
    app.on_cleanup.append(close)
    return app


def _unauthorised(request: web.Request, manners: Manners) -> web.Response | None:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if manners.key is None or given == manners.key:
        return None
    # Some servers repeat the key that they were given: a client must not pass it on.
    return make_error(401, f"Incorrect API key provided: {given}", "invalid_api_key")


def _require_manners(asked: Asked, manners: Manners) -> None:
    """Raise BadRequest for what a real endpoint of this kind refuses."""
    model = asked.body.get("model")
    if model != manners.model:
        raise BadRequest(f"The model '{model}' does not exist", "model", "model_not_found")
    for name in manners.refused:
        if name in asked.body:
            raise BadRequest(
                f"Unsupported parameter: '{name}' is not supported with this model.", name, "unsupported_parameter"
            )
    if asked.pictures and not manners.sees:
        raise BadRequest("image_url is not supported by this model: expected text", "messages")
    if manners.max_images is not None and len(asked.pictures) > manners.max_images:
        raise BadRequest(f"At most {manners.max_images} image(s) may be provided in one request.")
