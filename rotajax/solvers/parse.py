"""`read_answer`: the one action that a model's answer names, or the reason why it names none; never another action."""

import dataclasses
import json
import re
from typing import Any

from rotajax.env.actions import STOP, action_index
from rotajax.geometry.rotation import ANGLES, DIRECTIONS

# Why an answer is malformed.
CODES = (
    "empty",  # no text
    "truncated",  # cut at the limit of tokens
    "refused",  # the model, or a filter before or after it, declined
    "too_long",  # more text than any answer within the limit of tokens has
    "no_object",  # no JSON object in the text
    "two_objects",  # more than one that is valid
    "duplicate_key",  # the object has a key twice
    "missing_key",  # cot, type or angle
    "wrong_type",  # of cot or type: not a text; of angle: not a number
    "unknown_action",  # no token of the game, in its spelling
    "illegal_angle",  # a number, but none of the four
)
_KEYS = ("cot", "type", "angle")
_TOKENS = (*DIRECTIONS, "STOP")
# Characters; 8,192 tokens are some 40,000.
LONGEST = 400_000
# Beginnings of objects that are none. Each costs a reading of what follows: thousands would hold up all episodes.
BROKEN = 100
_OPENING = re.compile(r'\{\s*["}]')


@dataclasses.dataclass(frozen=True)
class Answer:
    """A legal action."""

    action: int  # an index of ACTIONS
    angle: int  # degrees; 0 for STOP
    text: str  # the "cot"
    strict: bool  # whether the answer was exactly one JSON object with the three keys and nothing else


@dataclasses.dataclass(frozen=True)
class Malformed:
    """No legal action: a code of CODES and the particulars in one line."""

    code: str
    detail: str = ""


class _Pairs(list):
    """The pairs of a JSON object, in order, with repetitions."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


def read_answer(
    text: str | None, *, finish_reason: str | None = None, refusal: str | None = None
) -> Answer | Malformed:
    """Return the action of an answer, or why it has none.

    Strict first: the whole text is one JSON object {"cot", "type", "angle"}. Then tolerant: exactly one valid object
    within prose, code fences or thinking tags; it may have more keys. STOP takes any legal angle, 0, null or none.
    finish_reason: the endpoint's; an answer that was cut counts only if it is read strictly.
    """
    text = text or ""
    if refusal or finish_reason == "content_filter":
        return Malformed("refused", _short(refusal or "content filter"))
    if len(text) > LONGEST:
        return Malformed("too_long", f"{len(text)} characters")
    whole = _decode(text.strip(), 0)
    if whole is not None and whole[1] == len(text.strip()):
        found = _checked(whole[0], strict=True)
        if isinstance(found, Answer):
            return found
    if finish_reason == "length":
        return Malformed("truncated", f"after {len(text)} characters")
    if not text.strip():
        return Malformed("empty")
    read = [_checked(pairs, strict=False) for pairs in _objects(text)]
    valid = [found for found in read if isinstance(found, Answer)]
    if len(valid) > 1:
        return Malformed("two_objects", f"{len(valid)} valid ones")
    if valid:
        return valid[0]
    return read[-1] if read else Malformed("no_object", _short(text))


def _objects(text: str) -> list[_Pairs]:
    """Return the JSON objects of a text that lie in no other, from left to right; none where BROKEN do not end."""
    found, broken, match = [], 0, _OPENING.search(text)
    while match:
        decoded = _decode(text, match.start())
        if decoded is not None:
            found.append(decoded[0])
        elif (broken := broken + 1) == BROKEN:
            return []
        match = _OPENING.search(text, decoded[1] if decoded else match.start() + 1)
    return found


def _decode(text: str, at: int) -> tuple[_Pairs, int] | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, _Pairs) else None


def _checked(pairs: _Pairs, *, strict: bool) -> Answer | Malformed:
    """Return the action of an object; with `strict` it has the three keys and no other."""
    values: dict[str, Any] = dict(pairs)
    if len(values) < len(pairs):
        return Malformed("duplicate_key")
    token = values.get("type")
    if strict and set(values) != set(_KEYS):
        return Malformed("missing_key", "not the three keys")
    missing = [key for key in _KEYS if key not in values and not (key == "angle" and token == "STOP")]
    if missing:
        return Malformed("missing_key", ", ".join(missing))
    if not isinstance(values["cot"], str) or not isinstance(token, str):
        return Malformed("wrong_type", "cot and type are texts")
    if token not in _TOKENS:
        return Malformed("unknown_action", _short(token))
    angle, text = values.get("angle"), _clean(values["cot"])
    if token == "STOP" and angle is None:
        return Answer(STOP, 0, text, strict)
    if isinstance(angle, bool) or not isinstance(angle, int | float):
        return Malformed("wrong_type", "angle is a number")
    if angle not in ANGLES and not (token == "STOP" and angle == 0):
        return Malformed("illegal_angle", _short(str(angle)))
    return Answer(action_index(token, int(angle)), 0 if token == "STOP" else int(angle), text, strict)


def _clean(text: str) -> str:
    """Return text without lone surrogates, which JSON can spell and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def _short(text: str) -> str:
    return " ".join(_clean(text).split())[:80]
