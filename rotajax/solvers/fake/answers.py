"""`make_answer`: the response to a request, as a model and a server give it, or gone wrong in the way that is asked."""

import asyncio
import json
from typing import Any

from rotajax.solvers.fake.asked import Asked
from rotajax.solvers.fake.faults import MODEL, Faults
from rotajax.solvers.fake.players import Player, answer
from rotajax.solvers.http import web

# Tokens of a picture and characters of a token, for the usage that an answer states.
PICTURE_TOKENS = 310
CHARACTERS = 4


async def make_answer(
    request: web.Request, asked: Asked, player: Player, faults: Faults, fault: str | None
) -> web.StreamResponse:
    """Return the answer, gone wrong where the fault says so."""
    if fault in ("429", "429_after"):
        headers = {"Retry-After": str(faults.after)} if fault == "429_after" else {}
        return make_error(429, "Rate limit reached", "rate_limit_exceeded", headers=headers)
    if fault == "quota":
        return make_error(429, "You exceeded your current quota", "insufficient_quota")
    if fault == "500":
        return make_error(500, "The server had an error", "server_error")
    if fault == "html":
        return web.Response(text="<html><body><h1>Sign in</h1></body></html>", content_type="text/html")
    if fault == "not_json":
        return web.Response(text='{"choices": [', content_type="application/json")
    if fault == "no_choices":
        return web.json_response({"id": "x", "object": "chat.completion", "choices": []})
    if fault == "drop_before":
        return await _drop(request, None)
    if fault == "slow":
        await asyncio.sleep(faults.slow)
    given = await player(asked)
    message = given if isinstance(given, dict) else {"role": "assistant", "content": given}
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    if fault in MODEL:
        message, reason = _spoil(fault, message)
    document = _completion(asked, message, reason)
    return await _drop(request, document) if fault == "drop" else web.json_response(document)


def _spoil(fault: str, message: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a message and a finish reason of a model that goes wrong in this way."""
    text = message.get("content") or ""
    refused = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    if fault == "refusal":
        return refused, "stop"
    text = {
        "length": text[: len(text) // 2],
        "empty": "",
        "malformed": "I would turn it a little to the right.",
        "two": f"{text}\n{answer(0, 'Or rather this.')}",
        "illegal": json.dumps({"cot": "", "type": "YAW_POS", "angle": 45}),
    }[fault]
    return {"role": "assistant", "content": text}, "length" if fault == "length" else "stop"


async def _drop(request: web.Request, document: dict[str, Any] | None) -> web.StreamResponse:
    """Send half of an answer, or nothing, and cut the connection."""
    body = json.dumps(document).encode()
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    if document is not None:
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.abort()
    return response


def _completion(asked: Asked, message: dict[str, Any], reason: str) -> dict[str, Any]:
    prompt = sum(map(len, asked.texts)) // CHARACTERS + PICTURE_TOKENS * len(asked.pictures)
    new = PICTURE_TOKENS + len(asked.texts[-1] if asked.texts else "") // CHARACTERS
    written = len(json.dumps(message)) // CHARACTERS
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "prompt_tokens_details": {"cached_tokens": max(prompt - new, 0) // 128 * 128},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"chatcmpl-{asked.content[:24]}",
        "object": "chat.completion",
        "created": 0,  # the same request gets the same bytes
        "model": asked.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


def make_error(
    status: int, message: str, code: str | None = None, param: str | None = None, headers: dict | None = None
) -> web.Response:
    """Return an error in the protocol's form."""
    kind = code if code == "insufficient_quota" else "invalid_request_error" if status < 429 else "server_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)
