"""`Toolbox`: the Python tool and the image viewer of one step, with the calls that are left."""

import asyncio
import base64
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from rotajax.solvers.agents.pictures import SUFFIXES, Picture, read_pictures
from rotajax.solvers.agents.sandbox import LAYERS, LIMITS, LONGEST_CODE, Layers, Limits, Outcome, Sandbox, SandboxError
from rotajax.solvers.picture import encode_png
from rotajax.solvers.question import Question
from rotajax.solvers.reply import InfrastructureError

# Table 19: tool calls a step, and pictures that a Python call returns.
CALLS, PICTURES = 4, 4
# Characters of output that the model is shown: the first and the last.
_HEAD, _TAIL = 12_000, 4_000


@cache
def text(name: str) -> Template:
    """Return one of the texts that a model reads."""
    return Template((resources.files("rotajax.solvers.agents") / "texts" / f"{name}.txt").read_text("utf-8"))


@dataclasses.dataclass(frozen=True)
class Workshop:
    """What the toolboxes of a run share: how they are shut in, and how many run code at a time.

    hidden: paths that code must not read wherever they lie, such as the suite's folder.
    """

    layers: Layers = LAYERS
    limits: Limits = LIMITS
    hidden: tuple[Path, ...] = ()
    calls: int = CALLS
    places: asyncio.Semaphore = dataclasses.field(default_factory=lambda: asyncio.Semaphore(os.cpu_count() or 1))

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as the protocol describes them to a model."""
        words = {
            "pictures": PICTURES,
            "seconds": f"{self.limits.seconds:g}",
            "memory": self.limits.memory_mib,
            "workspace": self.limits.workspace_mib,
        }
        return [
            _tool("python", text("python").substitute(words), "code", "The script."),
            _tool("view_image", text("view_image").template, "path", "The file's name in the workspace."),
        ]


def _tool(name: str, description: str, argument: str, meaning: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string", "description": meaning}},
        "required": [argument],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def task_files(question: Question) -> dict[str, bytes]:
    """Return what the workspace holds: the pictures that the model gets, and nothing else."""
    files = {"target.png": _png(question.target), "current.png": _png(question.current)}
    if question.view is not None:
        files["oblique.png"] = encode_png(question.view)
    files["panel.png"] = question.panel.png
    return files | {f"state_{step:02}.png": turn.panel.png for step, turn in enumerate(question.history, 1)}


def _png(mask: np.ndarray) -> bytes:
    return encode_png(mask.astype(np.uint8) * np.uint8(255))


class Toolbox:
    """The tools of one step. The sandbox opens with the first call; `aclose` ends it."""

    def __init__(self, workshop: Workshop, question: Question):
        self._workshop = workshop
        self._files = task_files(question)
        self._box: Sandbox | None = None
        self.left = workshop.calls
        self.log: list[dict[str, Any]] = []  # a JSON object a call

    async def answer(self, calls: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
        """Return the messages that answer a model's tool calls: one a call, then their pictures in a user's message.

        calls: {"id", "name", "arguments"}; arguments is the text that the model wrote. Calls beyond those that are left
        are answered without being made.
        """
        messages, pictures = [], []
        for call in calls:
            if self.left <= 0:
                said, shown = f"Not run: the {self._workshop.calls} tool calls of this step are used.", []
                self.log.append({"tool": call["name"], "ended": "not run"})
            else:
                self.left -= 1
                said, shown = await self._call(call["name"], call["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
            pictures += shown
        if self.left <= 0:
            messages[-1]["content"] += "\nNo tool calls are left in this step: answer now with the JSON object."
        if pictures:
            messages.append({"role": "user", "content": [part for picture in pictures for part in _parts(picture)]})
        return messages

    def offered(self) -> list[dict[str, Any]] | None:
        """Return the tools while calls are left."""
        return self._workshop.tools() if self.left > 0 else None

    async def aclose(self) -> None:
        """End the sandbox."""
        box, self._box = self._box, None
        if box:
            await box.aclose()

    async def _call(self, name: str, arguments: str) -> tuple[str, list[Picture]]:
        runs: dict[str, tuple[str, Callable]] = {"python": ("code", self._python), "view_image": ("path", self._view)}
        if name not in runs:
            self.log.append({"tool": name, "ended": "unknown tool"})
            return f"There is no tool {name[:80]!r}: expected python or view_image.", []
        argument, run = runs[name]
        try:
            value = json.loads(arguments)[argument]
        except (ValueError, TypeError, KeyError, RecursionError):
            value = None
        if not isinstance(value, str):
            self.log.append({"tool": name, "ended": "bad arguments"})
            return f'Bad arguments: expected a JSON object {{"{argument}": "..."}} with a text.', []
        async with self._workshop.places:
            try:
                return await run(value)
            except (SandboxError, OSError, EOFError) as error:  # the machine's failure, not the code's
                raise InfrastructureError("sandbox", str(error)) from error

    async def _python(self, code: str) -> tuple[str, list[Picture]]:
        if len(code) > LONGEST_CODE:
            self.log.append({"tool": "python", "ended": "bad arguments"})
            return f"Bad arguments: expected at most {LONGEST_CODE} characters of code.", []
        box = await self._open()
        before = await box.files()
        outcome = await box.run(code)
        after = await box.files()
        changed = [name for name, state in after.items() if before.get(name) != state]
        written = sorted(name for name in changed if name.lower().endswith(SUFFIXES))
        pictures = await read_pictures(box, written[:PICTURES])
        self._note("python", outcome, len(pictures))
        lines = [_ending(outcome, self._workshop.limits), _cut(outcome.output) or "(It printed nothing.)"]
        lines += [f"{each.name}: {each.error}" for each in pictures if each.png is None]
        shown = [each for each in pictures if each.png is not None]
        if shown:
            lines.append("Pictures that follow: " + ", ".join(each.name for each in shown))
        if len(written) > PICTURES:
            lines.append(f"Not shown, beyond {PICTURES} pictures: " + ", ".join(written[PICTURES:][:20]))
        if outcome.ended == "lost":
            await self.aclose()
            lines.append("The workspace is gone; the next call begins with the task's images.")
        return "\n".join(lines), shown

    async def _view(self, path: str) -> tuple[str, list[Picture]]:
        box = await self._open()
        name = os.path.normpath(path.removeprefix(box.workspace).lstrip("/")) if path else path
        if name not in await box.files():
            self.log.append({"tool": "view_image", "ended": "no such file"})
            names = ", ".join(sorted(await box.files(most=40)))
            return f"No such file in the workspace: {path[:200]!r}. It holds: {names}", []
        (picture,) = await read_pictures(box, [name])
        self.log.append({"tool": "view_image", "ended": "exit" if picture.png else "no picture"})
        if picture.png is None:
            return f"{name}: {picture.error}", []
        return f"The picture follows: {name}", [picture]

    async def _open(self) -> Sandbox:
        if self._box is None:
            shop = self._workshop
            self._box = await Sandbox.open(self._files, limits=shop.limits, layers=shop.layers, hidden=shop.hidden)
        return self._box

    def _note(self, tool: str, outcome: Outcome, pictures: int) -> None:
        noted = {"tool": tool, "ended": outcome.ended, "code": outcome.code, "pictures": pictures}
        self.log.append(noted | {"seconds": round(outcome.seconds, 3), "peak_mib": round(outcome.peak_mib, 1)})


def _ending(outcome: Outcome, limits: Limits) -> str:
    """Return one line on how a run ended."""
    stopped = {
        "time": f"the limit of {limits.seconds:g} s",
        "output": f"the limit of {limits.output_bytes} bytes of output",
        "workspace": f"the limit of {limits.workspace_mib} MiB of files; files are removed, the newest first",
        "lost": "the end of the sandbox itself",
    }
    if outcome.ended in stopped:
        return f"Stopped after {outcome.seconds:.1f} s by {stopped[outcome.ended]}."
    if outcome.code is not None and outcome.code < 0:
        return f"Killed by signal {-outcome.code} after {outcome.seconds:.1f} s."
    return f"Exit status {outcome.code} after {outcome.seconds:.1f} s."


def _cut(output: str) -> str:
    """Return what a model is shown of an output."""
    output = output.strip()
    if len(output) <= _HEAD + _TAIL:
        return output
    return f"{output[:_HEAD]}\n... ({len(output) - _HEAD - _TAIL} characters left out) ...\n{output[-_TAIL:]}"


def _parts(picture: Picture) -> Iterable[dict[str, Any]]:
    url = "data:image/png;base64," + base64.b64encode(picture.png or b"").decode()
    yield {"type": "text", "text": f"Picture {picture.name}:"}
    yield {"type": "image_url", "image_url": {"url": url}}
