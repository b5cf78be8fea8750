"""`make_prompt`: the messages of a question, as Appendix M prints them, made of bytes that are encoded once.

The user message has a text, then a text and a panel for every earlier turn, then a text and the current panel. The
paper says of the input conditions only what they leave out: without the auxiliary view the panels have two pictures and
the system text does not speak of a third; without history the instructions stay as they are (Appendix K.5).
"""

import base64
import json
from functools import cache
from importlib import resources
from string import Template
from weakref import WeakKeyDictionary

from rotajax.solvers.question import Condition, Panel, Question, Turn

# Of panels and turns that somebody still refers to: each is in the requests of all later turns of its episode.
_images: WeakKeyDictionary[Panel, bytes] = WeakKeyDictionary()
_told: WeakKeyDictionary[Turn, tuple[int, list[bytes]]] = WeakKeyDictionary()  # a turn's step and its two parts


class Prompt:
    """The messages of a request: bytes for the wire, dictionaries for a reader."""

    def __init__(self, system: bytes, parts: list[bytes]):
        self._system = system
        self._parts = parts  # the user message's content, a JSON object each, all but the first behind a comma

    def json_parts(self) -> list[bytes]:
        """Return the messages as the bytes of a JSON list in parts: a long history is megabytes, of which no copy is
        made.
        """
        return [b'[{"role":"system","content":', self._system, b'},{"role":"user","content":[', *self._parts, b"]}]"]

    def json_bytes(self) -> bytes:
        """Return the messages as the bytes of a JSON list."""
        return b"".join(self.json_parts())

    def messages(self) -> list[dict]:
        """Return the messages as JSON values, to read or to change."""
        return json.loads(self.json_bytes())


def make_prompt(question: Question) -> Prompt:
    """Return the messages of a question, with its images as data: URLs."""
    used, turns = question.turn, question.max_decisions
    user = _text("user").substitute(turn=used + 1, turns=turns, used=used, remaining=turns - used)
    parts = [_text_part(user)[1:]]
    for step, turn in enumerate(question.history, 1):
        parts += _turn_parts(step, turn)
    parts += [_text_part(_text("current").template), _image_part(question.panel)]
    return Prompt(_dump(system_text(question.condition)), parts)


def messages(question: Question) -> list[dict]:
    """Return the messages of a question as JSON values."""
    return make_prompt(question).messages()


def system_text(condition: Condition) -> str:
    """Return the system prompt: Figure 7 word by word where the condition has the auxiliary view."""
    return _text("system" if condition.auxiliary else "system_no_auxiliary").template


@cache
def _text(name: str) -> Template:
    return Template((resources.files("rotajax.solvers") / "texts" / f"{name}.txt").read_text("utf-8"))


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _text_part(text: str) -> bytes:
    return b"," + _dump({"type": "text", "text": text})


def _turn_parts(step: int, turn: Turn) -> list[bytes]:
    found = _told.get(turn)
    if found is None or found[0] != step:
        text = _text("history").substitute(step=step, action=turn.action, angle=turn.angle, cot=turn.text)
        found = _told[turn] = step, [_text_part(text), _image_part(turn.panel)]
    return found[1]


def _image_part(panel: Panel) -> bytes:
    found = _images.get(panel)
    if found is None:
        data = base64.b64encode(panel.png)
        found = _images[panel] = b',{"type":"image_url","image_url":{"url":"data:image/png;base64,%b"}}' % data
    return found
