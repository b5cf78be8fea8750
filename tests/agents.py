"""Questions, scripted tool calls and a real server, for the tests of agents; their code runs in the real sandbox."""

import asyncio
import base64
import io
import json

import numpy as np
from PIL import Image

from endpoints import QUICK, Script, ok, serving
from rotajax.solvers.agents.probe import available
from rotajax.solvers.agents.sandbox import Layers, Limits
from rotajax.solvers.client import ChatClient
from rotajax.solvers.picture import make_panel
from rotajax.solvers.question import CONDITIONS, Question, Turn

LIMITS = Limits(seconds=20.0, memory_mib=512, workspace_mib=16)
ANSWER = '{"cot":"turn it","type":"YAW_POS","angle":30}'


def best_layers() -> Layers:
    """The best layers of this machine, whatever they leave open: what they enforce is tested in test_sandbox."""
    found = available()
    return found.require(found.missing)


def make_question(condition="full", turns=2, **more):
    """A question with two earlier turns, of which the condition may leave the history out."""
    condition = CONDITIONS[condition]
    rng = np.random.default_rng(7)
    target, current = rng.random((2, 320, 320)) < 0.5
    view = rng.integers(0, 256, (320, 320), np.uint8) if condition.auxiliary else None
    earlier = [make_panel(target, view, np.roll(current, n + 1)) for n in range(turns)]
    history = tuple(Turn(panel, "ROLL_NEG", 10, f"thought {n}") for n, panel in enumerate(earlier))
    return Question(
        episode="e",
        turn=turns,
        seed=0,
        target=target,
        view=view,
        current=current,
        panel=make_panel(target, view, current),
        history=history if condition.history else (),
        condition=condition,
        **more,
    )


def calls(*wanted, text=None):
    """A response in which the model calls tools: (name, arguments)."""
    made = [
        {
            "id": f"id-{n}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for n, (name, given) in enumerate(wanted)
    ]
    return ok(text, tool_calls=made, choice={"finish_reason": "tool_calls"})


def python(code):
    return ("python", {"code": code})


def solve(make, *responses, question=None, **options):
    """Ask an agent one question; return the script of the endpoint and the reply, or the exception that came."""
    script = Script(*responses)

    async def run():
        async with serving(script.app()) as base:
            solver = make(ChatClient(base, "m", None, QUICK), **options)
            try:
                return await solver(question or make_question())
            except Exception as error:
                return error
            finally:
                await solver.aclose()

    return script, asyncio.run(run())


def tool_messages(body):
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def pictures(body):
    """The pictures that came back from tools in a request's last message."""
    parts = body["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))) for url in urls]
