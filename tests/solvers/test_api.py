"""A model behind a real endpoint: answers, retries and their count, and what can reach the wire."""

import asyncio
import base64
import dataclasses
import json
import re

import jax
import numpy as np
import pytest
from aiohttp import web

import rotajax as rx
from endpoints import QUICK, Script, bad, ok, serving
from rotajax.records import read_run
from rotajax.solvers import InfrastructureError, Stopped
from rotajax.solvers.api import api_solver, judged
from rotajax.solvers.client import ChatClient
from rotajax.solvers.fake.asked import read_request
from rotajax.solvers.fake.players import random_player
from rotajax.solvers.loop import run_solver
from rotajax.solvers.price import Budget, Price
from rotajax.solvers.question import Journal
from rotajax.solvers.secret import Secret
from rotajax.solvers.settings import Settings
from solving import FIGURES, chat, question

YAW = rx.action_index("YAW_POS", 30)
GOOD = chat("YAW_POS", 30)
USED = {"prompt_tokens": 100, "completion_tokens": 10}


@pytest.fixture(scope="module")
def asked():
    return question(rx.load_suite("mini", limit=6)[5], FIGURES)


def answer(asked, *responses, earlier=(), **options):
    """What the solver makes of an endpoint's responses: (script, journal, reply or the exception)."""
    script, journal = Script(*responses), Journal(earlier)

    async def play():
        async with serving(script.app()) as base:
            client = ChatClient(base, "m", None, QUICK)
            solver = api_solver(client, **options)
            try:
                return await solver(dataclasses.replace(asked, journal=journal))
            except (InfrastructureError, Stopped) as error:
                return error
            finally:
                await solver.aclose()

    return script, journal, asyncio.run(play())


def test_a_history_that_does_not_fit_is_the_model_s_failure(asked):
    _, _, reply = answer(asked, bad(400, "maximum context length", code="context_length_exceeded"))
    assert (reply.action, reply.failure) == (None, "context_exceeded")
    assert "maximum context length" in reply.fields["detail"]
    _, _, other = answer(asked, bad(400, "no such parameter"))
    assert isinstance(other, InfrastructureError)


def test_a_legal_answer_is_the_action_and_its_record(asked):
    script, journal, reply = answer(asked, ok(GOOD, usage=USED, reasoning="hm"), price=Price(1.0, 2.0))
    assert (reply.action, reply.text, reply.failure) == (YAW, "because", None)
    fields = reply.fields
    assert (fields["reply"], fields["reasoning"], fields["reading"]) == (GOOD, "hm", "strict")
    assert (fields["retries"], fields["codes"], fields["requests"]) == (0, [], 1)
    assert fields["usage"] == {"prompt": 100, "cached": 0, "completion": 10, "reasoning": 0, "known": True}
    assert fields["cost"] == pytest.approx(120e-6)
    assert [entry["text"] for entry in journal.added] == [GOOD]
    assert len(script.bodies) == 1
    images = [part for part in script.bodies[0]["messages"][1]["content"] if part["type"] == "image_url"]
    sent = [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in images]
    assert sent == [*(turn.panel.png for turn in asked.history), asked.panel.png]


def test_malformed_answers_are_asked_again_with_the_same_bytes_and_counted(asked):
    cut = ok("I think", usage=USED, choice={"finish_reason": "length"})
    responses = [ok("no idea", usage=USED), cut, ok(None, usage=USED, refusal="no"), ok(f"So: {GOOD}", usage=USED)]
    script, journal, reply = answer(asked, *responses)
    assert (reply.action, reply.fields["retries"], reply.fields["reading"]) == (YAW, 3, "tolerant")
    assert reply.fields["codes"] == ["no_object", "truncated", "refused"]
    assert reply.fields["usage"]["prompt"] == 400
    assert len(journal.added) == 4
    assert all(body == script.bodies[0] for body in script.bodies)


def test_the_seventh_malformed_answer_is_the_last(asked):
    script, journal, reply = answer(asked, ok("no", usage=USED))
    assert (reply.action, reply.failure) == (None, "no_object")
    assert (reply.fields["retries"], len(script.bodies), len(journal.added)) == (6, 7, 7)
    assert reply.fields["codes"] == ["no_object"] * 7


def test_a_legal_seventh_answer_counts_six_retries(asked):
    _, _, reply = answer(asked, *[ok("no", usage=USED)] * 6, ok(GOOD, usage=USED))
    assert (reply.action, reply.fields["retries"]) == (YAW, 6)


def test_answers_without_output_tokens_are_no_returns(asked):
    """Table 13: only responses that contain output tokens count; others are failed transmissions."""
    silent = ok("", usage={"prompt_tokens": 100, "completion_tokens": 0})
    _, journal, reply = answer(asked, silent, silent, ok("no", usage=USED), ok(GOOD, usage=USED))
    assert (reply.action, reply.fields["retries"], reply.fields["silent"]) == (YAW, 1, 2)
    assert len(journal.added) == 4
    script, _, error = answer(asked, silent)
    assert (error.kind, len(script.bodies)) == ("no_tokens", 7)
    # All its tokens went into reasoning: that is an answer, an empty one.
    _, _, reply = answer(asked, ok("", usage=USED), ok(GOOD, usage=USED))
    assert reply.fields["codes"] == ["empty"]
    # A filter in front of the model lets no token out and is an answer, a refusal.
    _, _, reply = answer(asked, bad(400, "content policy", code="content_filter"), ok(GOOD, usage=USED))
    assert reply.fields["codes"] == ["refused"]


def test_answers_of_an_earlier_run_are_not_asked_for_again(asked):
    _, journal, _ = answer(asked, *[ok("no", usage=USED)] * 2, ok(GOOD, usage=USED))
    script, again, reply = answer(asked, ok("never"), earlier=journal.added)
    assert (reply.action, reply.fields["retries"], script.bodies, again.added) == (YAW, 2, [], [])
    # Killed after the first two: only the third is asked for.
    script, again, reply = answer(asked, ok(GOOD, usage=USED), earlier=journal.added[:2])
    assert (reply.fields["retries"], len(script.bodies), len(again.added)) == (2, 1, 1)
    # What counted is what counts, whoever reads it.
    assert judged(journal.added, 6) == judged(json.loads(json.dumps(journal.added)), 6)


def test_a_budget_does_not_run_on_where_the_server_hides_its_tokens(asked):
    budget = Budget(limit=100.0)
    script, journal, reply = answer(asked, ok("no"), price=Price(1.0, 2.0), budget=budget)
    assert isinstance(reply, Stopped)
    assert "expected a server that says how many tokens" in str(reply)
    assert (len(script.bodies), len(journal.added), budget.in_flight) == (1, 1, 0)
    script, _, reply = answer(asked, ok("no"), ok(GOOD), price=Price(1.0, 2.0), budget=Budget())
    assert reply.action == YAW  # without a limit nothing is lost


def test_a_budget_stops_before_more_is_spent(asked):
    budget = Budget(limit=3.5e-4, spent=0.0)
    script, _, reply = answer(asked, ok("no", usage=USED), price=Price(1.0, 2.0), budget=budget)
    assert isinstance(reply, Stopped)
    assert len(script.bodies) == 2  # a third one might have cost more than was left
    assert budget.spent == pytest.approx(2.4e-4)
    assert budget.in_flight == 0


KEY = "sk-" + "k3Y" * 12
TEXTS = [
    r"Current turn: \d+/48\. Used steps: \d+\. Remaining steps: \d+\. The task ends automatically when the "
    r"requirement is met\. If it continues, the current result has not yet met the requirement\.",
    r"Historical state (\d+); action after this state: step=\1 action=(PITCH|YAW|ROLL)_(POS|NEG) angle=(1|5|10|30) "
    r"cot=Drawn at random from the picture [0-9a-f]{12}\.",
    r"Current state to act on now:",
]


class Wire:
    """An endpoint that plays by lot from the pictures and keeps every byte that it is sent."""

    def __init__(self):
        self.bodies, self.heads = [], []

    def app(self):
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self.answer)
        return app

    async def answer(self, request):
        body = await request.read()
        self.bodies.append(body)
        self.heads.append((str(request.url), sorted(request.headers.items())))
        said = await random_player()(read_request(body))
        _, answered, _ = ok(said, usage=USED)
        return web.json_response(answered)


def sent(suite, out):
    """Every request of a run on a suite, and its address and headers."""
    wire, solvers = Wire(), []

    async def solve(question):
        return await solvers[0](question)

    async def start(journal):  # in the run's loop, as a client has to be
        solve.server = serving(wire.app())
        base = await solve.server.__aenter__()
        solvers.append(api_solver(ChatClient(base, "m", Secret(KEY), Settings(timeout=120.0))))
        return ()

    async def end():
        await solvers[0].aclose()
        await solve.server.__aexit__(None, None, None)

    solve.prepare, solve.aclose = start, end
    run_solver(suite, solve, out, name="hidden name", concurrency=3, progress=False)
    return wire


def secretive(suite, word, order):
    """The suite with other names, icons, licences, start words and symmetries around the same solids."""
    rows = []
    for number, row in enumerate(suite.info.rows):
        icon = {"path": f"{word}folder/{number}.svg", "author": word.upper() + "AUTHOR", "sha256": word, "licence": "X"}
        rows.append({**row, "id": f"single_{word}{number}", "icon": icon, "start": [word], "reference": [[word, 30]]})
    group = np.asarray(suite.tasks.group).copy()
    if order == 2:  # half a turn counts as a target too: pose errors differ
        group[:, 1] = np.diag([-1.0, -1.0, 1.0])
    tasks = dataclasses.replace(suite.tasks, group=group)
    info = dataclasses.replace(suite.info, id=f"{word}suite", sha256=word * 8, rows=tuple(rows))
    return dataclasses.replace(suite, tasks=tasks, info=info)


def test_nothing_hidden_reaches_the_bytes_sent(tiny, tmp_path):
    first = sent(secretive(tiny, "secret", 1), tmp_path / "first")
    second = sent(secretive(tiny, "other", 2), tmp_path / "second")
    # Tasks that differ in all that is hidden, and not in what is shown, are asked about in the same bytes.
    assert sorted(first.bodies) == sorted(second.bodies)
    runs = [read_run(tmp_path / name) for name in ("first", "second")]
    assert len(first.bodies) == len(runs[0].decisions) > 30
    assert (runs[0].decisions.pose_error_before != runs[1].decisions.pose_error_before).any()
    numbers = np.concatenate([column.ravel() for column in jax.tree.leaves(vars(runs[0].decisions))[3:]])
    decimals = {f"{abs(number):.6f}".rstrip("0")[:5] for number in numbers if abs(number) not in (0, 1, 5, 10, 30)}
    for body in first.bodies:
        document = json.loads(body)
        assert set(document) == {"model", "stream", "messages", "max_tokens", "temperature", "seed", *EXTRA}
        system, user = document["messages"]
        assert set(system) == set(user) == {"role", "content"}
        texts = [part["text"] for part in user["content"] if part["type"] == "text"]
        images = [part["image_url"]["url"] for part in user["content"] if part["type"] == "image_url"]
        assert len(texts) + len(images) == len(user["content"])
        for text in texts:
            assert any(re.fullmatch(pattern, text) for pattern in TEXTS), text
        for url in images:
            kind, _, data = url.partition(",")
            assert kind == "data:image/png;base64"
            assert chunks(base64.b64decode(data, validate=True)) == [b"IHDR", b"IDAT", b"IEND"]
        told = re.sub(r'"data:[^"]*"', "", body.decode())
        assert not any(
            word in told for word in ("secret", "SECRET", "other", "single", "tiny", "hidden", KEY, "iou", "IoU")
        )
        assert not decimals & set(re.findall(r"\d+\.\d+", told))
    files = [path for path in (tmp_path / "first").rglob("*") if path.is_file()]
    assert len(files) > 30
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    for url, headers in first.heads:
        assert url.endswith("/v1/chat/completions")
        names = {name for name, _ in headers}
        assert names <= {
            "Host",
            "Authorization",
            "Content-Type",
            "Content-Length",
            "Accept",
            "Accept-Encoding",
            "User-Agent",
        }
        assert not any("secret" in value.lower() or "hidden" in value for _, value in headers)


ENTITY = ("Content-Type", "Content-Length")
EXTRA = ("reasoning_effort", "response_format")


def chunks(png):
    """The names of a PNG's chunks."""
    names, at = [], 8
    while at < len(png):
        names.append(png[at + 4 : at + 8])
        at += 12 + int.from_bytes(png[at : at + 4])
    return names
