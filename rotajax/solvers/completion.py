"""`Completion`: what a model said in one answer, read from the body of a response."""

import dataclasses
import json
from typing import Any

from rotajax.solvers.usage import Usage, read_usage


class BadBody(Exception):
    """A response that is no chat completion; `kind` says why: not_json, no_choices, upstream_error, bad_content.

    `status` is that of an error in the body: routers answer 200 and put what happened behind them there.
    """

    def __init__(self, kind: str, detail: str, status: int | None = None):
        super().__init__(detail)
        self.kind = kind
        self.status = status


@dataclasses.dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called; `arguments` is the JSON text as the model wrote it, legal or not."""

    id: str
    name: str
    arguments: str


@dataclasses.dataclass(frozen=True)
class Completion:
    """An answer. An empty, cut or refused one is the model's answer too: `read_answer` judges it."""

    text: str
    reasoning: str | None
    finish_reason: str | None  # stop, length, tool_calls, content_filter, ...
    refusal: str | None
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    raw_id: str | None
    model: str | None  # the model as the server names it
    seconds: float = 0.0  # from sending the answered request to its last byte
    waited: float = 0.0  # for a place among the requests in flight, and before retries
    attempts: int = 1  # requests that were sent
    failures: tuple[str, ...] = ()  # kinds of the attempts that failed

    def message(self) -> dict[str, Any]:
        """Return the assistant's message for a conversation that goes on."""
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, **({"tool_calls": calls} if calls else {})}


def read_completion(body: bytes, content_type: str) -> Completion:
    """Return the completion in a response's body. The body decides, whatever its content type is called.

    Raises BadBody where it is none.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise BadBody("not_json", f"expected JSON, got {len(body)} bytes of {content_type or 'no type'}") from None
    if not isinstance(document, dict):
        raise BadBody("not_json", f"expected a JSON object, got {type(document).__name__}")
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BadBody("no_choices", "expected at least one choice, got none", _status(document.get("error")))
    choice, message = choices[0], choices[0].get("message")
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error"):
        raise BadBody("upstream_error", "the server behind the server failed")
    if not isinstance(message, dict):
        raise BadBody("no_choices", "expected a message in the choice, got none")
    text, thought, refused = _content(message.get("content"))
    reasoning = message.get("reasoning_content") or message.get("reasoning") or thought
    refusal = message.get("refusal") or refused
    return Completion(
        text=text,
        reasoning=_text(reasoning),
        finish_reason=_text(reason),
        refusal=_text(refusal),
        tool_calls=_tool_calls(message.get("tool_calls")),
        usage=read_usage(document.get("usage")),
        raw_id=_text(document.get("id")),
        model=_text(document.get("model")),
    )


def _status(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    code = error.get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _content(content: Any) -> tuple[str, str, str]:
    """Return text, reasoning and refusal of a content: a string, null, or a list of parts."""
    if content is None:
        return "", "", ""
    if isinstance(content, str):
        return content, "", ""
    if not isinstance(content, list):
        raise BadBody("bad_content", f"expected text, parts or null as content, got {type(content).__name__}")
    text, thought, refused = [], [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("text", "output_text", None):
                text.append(_text(part.get("text")) or "")
            elif kind == "refusal":
                refused.append(_text(part.get("refusal")) or "")
            elif kind in ("thinking", "reasoning"):
                thought.append(_text(part.get("thinking")) or _text(part.get("text")) or "")
    return "".join(text), "".join(thought), "".join(refused)


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    read = []
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BadBody("bad_content", "expected a function with a name in a tool call, got something else")
        arguments = function.get("arguments")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
        read.append(ToolCall(_text(call.get("id")) or f"call_{number}", function["name"], written))
    return tuple(read)
