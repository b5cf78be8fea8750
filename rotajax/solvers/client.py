"""`ChatClient`: questions to an OpenAI-compatible `/chat/completions` endpoint, with retries that can be trusted."""

import asyncio
import dataclasses
import json
import random
import time
from collections.abc import Sequence
from typing import Any, Protocol

from rotajax.checks import require
from rotajax.solvers.address import completions_url
from rotajax.solvers.answer_error import AnswerError, read_error
from rotajax.solvers.backoff import pause
from rotajax.solvers.completion import BadBody, Completion, read_completion
from rotajax.solvers.dialect import Dialect
from rotajax.solvers.reply import InfrastructureError, Stopped
from rotajax.solvers.secret import KEY_NAMES, Secret
from rotajax.solvers.settings import Settings
from rotajax.solvers.transport import Failed, Transport
from rotajax.solvers.usage import Usage

# Waits that the server orders with Retry-After, besides the retries: they are its timetable, not its failures.
WAITS = 8


class Encoded(Protocol):
    """Messages that are encoded already."""

    def json_parts(self) -> Sequence[bytes]:
        """Return the bytes of a JSON array, in parts."""
        ...


Messages = Sequence[dict[str, Any]] | Encoded


class EndpointError(ValueError):
    """One line on what is wrong with the key, the model or the address; `kind` is "key", "model" or "address"."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class ChatClient:
    """A client of one model of one endpoint; it is used and closed in one event loop.

    What it learns of the endpoint's parameters it keeps in `dialect`. Raises ValueError for an address that is none.
    """

    def __init__(self, base_url: str, model: str, key: Secret | None = None, settings: Settings | None = None):
        self.url = completions_url(base_url)
        require(bool(model.strip()), "model", "the name of a model", repr(model))
        self.model = model
        self.settings = settings or Settings()
        self.dialect = Dialect()
        self._transport = Transport(self.url, key)
        self._places = asyncio.Semaphore(self.settings.concurrency)
        self._not_before = 0.0  # by time.monotonic: a rate limit is everybody's
        self._answered = False
        self._draw = random.Random()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> "ChatClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def complete(
        self, messages: Messages, *, tools: Sequence[dict[str, Any]] | None = None, json_mode: bool = True
    ) -> Completion:
        """Return the model's answer to a conversation.

        `messages` are the protocol's dictionaries, or an object whose `json_parts` has them encoded. A body that is no
        completion, a 429, a 5xx, a lost connection and a timeout are tried again after a pause; a Retry-After is
        waited for. Without `json_mode` the settings' JSON mode is left out: it needs a conversation that names JSON.
        Raises InfrastructureError with its kind where that did not help, Stopped for an exhausted quota,
        EndpointError for a key, a model or an address that is wrong from the start.
        """
        encoded = [_encode(list(messages))] if isinstance(messages, Sequence) else messages.json_parts()
        failures: list[str] = []
        retries = waits = 0
        began = time.monotonic()
        while True:
            await self._turn()
            async with self._places:
                sent, dialect = time.monotonic(), self.dialect
                parameters = dialect.parameters(self.settings.parameters(json_mode=json_mode and not tools))
                result = await self._ask(parameters, encoded, tools)
            if isinstance(result, AnswerError):
                if self._learn(result, dialect, parameters):
                    failures.append("parameter")
                    continue
                result = self._judge(result)
            if isinstance(result, Completion):
                self._answered = True
                return dataclasses.replace(
                    result,
                    seconds=time.monotonic() - sent,
                    waited=sent - began,
                    attempts=len(failures) + 1,
                    failures=tuple(failures),
                )
            failures.append(result.kind)
            if result.wait is not None and waits < WAITS:
                waits += 1
                self._not_before = max(self._not_before, time.monotonic() + result.wait)
            elif retries < self.settings.retries:
                await asyncio.sleep(pause(retries, self.settings.backoff, self._draw))
                retries += 1
            else:
                raise InfrastructureError(result.kind, f"{self.model}: {result.line} (attempt {len(failures)})")

    async def _turn(self) -> None:
        """Wait until the last Retry-After is over; a little spread, so that not all come back at once."""
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left + 0.1 * min(left, 1.0) * self._draw.random())

    def _learn(self, error: AnswerError, used: Dialect, sent: dict[str, Any]) -> bool:
        """Take another dialect where the error asks for one; True where the request is worth sending again."""
        better = used.after(error, sent)
        if better is not None:
            # Another request in flight may have learnt something else meanwhile: both hold.
            limit = better.limit if better.limit != used.limit else self.dialect.limit
            self.dialect = Dialect(limit, self.dialect.dropped | better.dropped)
        return better is not None

    def _judge(self, error: AnswerError) -> Completion | Failed:
        """Return what an error answer counts as: a refusal is the model's answer. Raises what no retry can change."""
        kind, line = error.kind, f"{self.model}: {error.line}"
        if kind == "refusal":
            return Completion("", None, "content_filter", error.line, (), Usage(), None, None)
        if kind == "quota":
            raise Stopped(f"the quota is exhausted: {line}")
        if kind in ("key", "model", "address"):
            if self._answered:  # it worked before, so that what was asked for is not the mistake
                raise Stopped(line)
            expected = {
                "key": f"key (from {' or '.join(KEY_NAMES)}): expected one that {self.url} accepts",
                "model": f"model: expected one that {self.url} serves",
                "address": f"base-url: expected an endpoint, often ending in /v1, at {self.url}",
            }
            raise EndpointError(kind, f"{expected[kind]}, got {line}")
        if kind in ("bad_request", "too_long"):
            raise InfrastructureError(kind, line)
        return Failed(kind, error.line, error.wait)

    async def _ask(
        self, parameters: dict[str, Any], messages: Sequence[bytes], tools: Sequence[dict[str, Any]] | None
    ) -> Completion | AnswerError | Failed:
        """Return what one request came to."""
        head = {"model": self.model, "stream": False, **parameters, **({"tools": list(tools)} if tools else {})}
        parts = (_encode(head)[:-1] + b',"messages":', *messages, b"}")
        response = await self._transport.post(parts, self.settings.timeout)
        if isinstance(response, Failed):
            if response.kind == "untrusted":
                raise EndpointError("address", f"base-url: expected a trusted server, got {self.url}: {response.line}")
            return response
        if response.status != 200:
            return read_error(response.status, response.headers, response.body)
        try:
            return read_completion(response.body, response.headers.get("Content-Type", ""))
        except BadBody as error:
            if error.status is not None:
                return read_error(error.status, response.headers, response.body)
            return Failed(error.kind, str(error))


def _encode(value: Any) -> bytes:
    # An agent's talk repeats what a model wrote and what its files are called: lone surrogates, which are no UTF-8.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")
