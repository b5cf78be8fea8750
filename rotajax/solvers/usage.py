"""`Usage`: the tokens of an answer, each counted once."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Usage:
    """Tokens: `cached` are a part of `prompt`, `reasoning` a part of `completion`. Not `known` where the server did not
    say: then all are 0 and mean nothing.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    known: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum; known where both are, so that a sum with a gap does not pass for a whole one."""
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
            self.known and other.known,
        )

    def fields(self) -> dict[str, int | bool]:
        """Return JSON of it."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(field.name for field in dataclasses.fields(Usage))
# The neutral element of a sum.
NOTHING = Usage(known=True)


def read_usage(given: Any) -> Usage:
    """Return the usage of a response's "usage" field, as the servers of this protocol write it.

    Cached tokens are a part of the prompt's everywhere. Reasoning tokens are a part of the completion's at most, but
    some servers list them beside it: there the total says so.
    """
    if not isinstance(given, dict) or _count(given, "prompt_tokens", "input_tokens") is None:
        return Usage()
    prompt = _count(given, "prompt_tokens", "input_tokens") or 0
    completion = _count(given, "completion_tokens", "output_tokens") or 0
    details = _part(given, "prompt_tokens_details", "input_tokens_details")
    cached = _count(details, "cached_tokens") or _count(given, "prompt_cache_hit_tokens", "cached_tokens") or 0
    details = _part(given, "completion_tokens_details", "output_tokens_details")
    reasoning = _count(details, "reasoning_tokens") or _count(given, "reasoning_tokens") or 0
    if reasoning and _count(given, "total_tokens") == prompt + completion + reasoning:
        completion += reasoning
    return Usage(prompt, min(cached, prompt), completion, min(reasoning, completion), known=True)


def _part(given: dict, *names: str) -> dict:
    return next((given[name] for name in names if isinstance(given.get(name), dict)), {})


def _count(given: dict, *names: str) -> int | None:
    values = (given.get(name) for name in names)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool) and v >= 0), None)
