"""`Asked`: what a request to the endpoint asks: its pictures and texts in order, and a hash of them."""

import base64
import binascii
import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_ACTION = re.compile(r"\bstep=\d+ action=([A-Z_]+) angle=(\d+)\b")
_URL = "data:image/png;base64,"


class BadRequest(Exception):
    """A request that the endpoint answers with status 400 and this line; `param` names what is wrong in it."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None):
        super().__init__(message)
        self.param = param
        self.code = code


@dataclasses.dataclass(frozen=True)
class Asked:
    """A conversation. Two requests with the same messages have the same `content`, whatever their parameters are."""

    body: dict[str, Any]
    content: str  # sha256 of the messages
    pictures: tuple[bytes, ...]  # PNG, as they were sent
    hashes: tuple[str, ...]  # sha256 of each
    texts: tuple[str, ...]

    @property
    def chain(self) -> str:
        """The hash of the pictures alone, in order: the same for every way to put a question about them."""
        return chain(self.hashes)

    @property
    def actions(self) -> list[tuple[str, int]]:
        """The earlier actions that the texts list, oldest first."""
        found = (_ACTION.search(text) for text in self.texts)
        return [(match[1], int(match[2])) for match in found if match]


def chain(hashes: Sequence[str]) -> str:
    """Return one hash of a sequence of hashes."""
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()


def read_request(raw: bytes) -> Asked:
    """Return what a request's body asks. Raises BadRequest where it does not follow the protocol."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadRequest("expected JSON as the body of the request") from None
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        raise BadRequest("expected messages: a list of at least one message", "messages")
    pictures, hashes, texts = [], [], []
    content = hashlib.sha256()
    for role, kind, value in _parts(messages):
        content.update(f"{role} {kind} {len(value)} ".encode())
        content.update(value.encode())
        if kind == "image_url":
            picture = _picture(value)
            pictures.append(picture)
            hashes.append(hashlib.sha256(picture).hexdigest())
        else:
            texts.append(value)
    return Asked(body, content.hexdigest(), tuple(pictures), tuple(hashes), tuple(texts))


def _parts(messages: list) -> Iterator[tuple[str, str, str]]:
    """Yield role, kind and text or address of every part of a conversation."""
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadRequest("expected a role in every message", where)
        content = message.get("content")
        if message.get("tool_calls"):
            yield message["role"], "tool_calls", json.dumps(message["tool_calls"], sort_keys=True)
        if content is None:
            continue
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts if isinstance(parts, list) else [parts]:
            kind, value = "", None
            if isinstance(part, dict) and part.get("type") in ("text", "image_url"):
                kind = part["type"]
                value = part.get(kind)
            if isinstance(value, dict):
                value = value.get("url")
            if not isinstance(value, str):
                raise BadRequest("expected text and image_url as the parts of a content", f"{where}.content")
            yield message["role"], kind, value


def _picture(url: str) -> bytes:
    if not url.startswith(_URL):
        raise BadRequest(f"expected an image as {_URL}..., got '{url[:40]}'", "messages")
    try:
        return base64.b64decode(url[len(_URL) :], validate=True)
    except binascii.Error:
        raise BadRequest("expected base64 in the image's address", "messages") from None
