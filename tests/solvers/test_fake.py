"""The local endpoint: the same request gets the same answer, and it goes wrong only as it is told to."""

import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys

import jax
import numpy as np
import pytest
from aiohttp import ClientSession

import rotajax as rx
from endpoints import QUICK, serving
from rotajax.env.actions import ACTIONS, action_index
from rotajax.env.state import RUNNING, SUCCESS
from rotajax.solvers.client import ChatClient, EndpointError
from rotajax.solvers.fake import pixels
from rotajax.solvers.fake.asked import BadRequest, chain, read_request
from rotajax.solvers.fake.faults import ALL, KINDS, Faults, read_faults
from rotajax.solvers.fake.log import AnswerLog, read_log
from rotajax.solvers.fake.pictures import read_panel, read_picture
from rotajax.solvers.fake.players import make_player, random_player
from rotajax.solvers.fake.server import make_app
from rotajax.solvers.parse import Answer, Malformed, read_answer
from rotajax.solvers.picture import make_panel
from rotajax.solvers.prompt import make_prompt
from rotajax.solvers.question import CONDITIONS, Question, Turn
from rotajax.solvers.reply import InfrastructureError, Stopped
from rotajax.solvers.secret import Secret


def pictures(seed, *, auxiliary=True):
    draw, block = np.random.default_rng(seed), np.ones((20, 20), np.uint8)
    target, current = (np.kron(draw.random((16, 16)) < 0.5, block) > 0 for _ in range(2))
    view = np.kron(draw.integers(0, 256, (16, 16)).astype(np.uint8), block)
    return target, view if auxiliary else None, current


def question(turn, *, condition="full"):
    """A question after so many turns, of noise."""
    chosen = CONDITIONS[condition]
    panels = [make_panel(*pictures(seed, auxiliary=chosen.auxiliary)) for seed in range(turn + 1)]
    past = tuple(Turn(panel, *ACTIONS[i % 24], f"turn {i}") for i, panel in enumerate(panels[:-1]))
    target, view, current = pictures(turn, auxiliary=chosen.auxiliary)
    return Question("e", turn, 0, target, view, current, panels[-1], past if chosen.history else (), chosen)


def asked(turn, **options):
    prompt = make_prompt(question(turn, **options))
    return read_request(b'{"model": "fake", "messages": ' + prompt.json_bytes() + b"}")


def body(turn=2):
    return {"model": "fake", "messages": make_prompt(question(turn)).messages()}


async def post(base, document):
    async with ClientSession() as session, session.post(f"{base}/chat/completions", json=document) as response:
        return response.status, await response.read()


def played(player, requests, **options):
    async def run():
        async with serving(make_app(player, **options)) as base:
            return [await post(base, request) for request in requests]

    return asyncio.run(run())


def test_the_pictures_arrive_as_they_were():
    for condition in CONDITIONS:
        request = asked(2, condition=condition)
        auxiliary, history = CONDITIONS[condition]
        assert len(request.pictures) == (3 if history else 1)
        got = read_panel(read_picture(request.pictures[-1]))
        target, view, current = pictures(2, auxiliary=auxiliary)
        assert np.array_equal(got.target, target)
        assert np.array_equal(got.current, current)
        assert (got.view is None) == (view is None)
        if view is not None:
            assert np.array_equal(got.view, view)
        assert request.actions == ([tuple(ACTIONS[0]), tuple(ACTIONS[1])] if history else [])
        assert request.chain == chain(request.hashes)


def test_the_content_is_the_messages_and_nothing_else():
    first = asked(1)
    other = read_request(json.dumps({**body(1), "max_tokens": 3}).encode())
    assert other.content == first.content
    assert len({asked(turn).content for turn in range(4)}) == 4


def test_random_play_is_a_function_of_the_pictures():
    requests = [body(turn) for turn in range(6)]
    there = played(random_player(3), requests)
    back = played(random_player(3), requests[::-1])[::-1]
    assert there == back
    assert there == played(random_player(3), [{**request, "seed": 1} for request in requests])
    assert there != played(random_player(4), requests)
    texts = [json.loads(answer)["choices"][0]["message"]["content"] for _, answer in there]
    actions = [read_answer(text) for text in texts]
    assert all(isinstance(answer, Answer) and answer.strict for answer in actions)
    assert len({answer.action for answer in actions}) > 1


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"{", "expected JSON"),
        (b"[]", "expected messages"),
        (b'{"messages": []}', "expected messages"),
        (b'{"messages": [{"content": "a"}]}', "expected a role"),
        (b'{"messages": [{"role": "user", "content": [{"type": "audio"}]}]}', "expected text and image_url"),
        (b'{"messages": [{"role": "user", "content": [3]}]}', "expected text and image_url"),
        (b'{"messages": [{"role": "user", "content": 3}]}', "expected text and image_url"),
        (
            b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/a.png"}}]}]}',
            "expected an image as data:",
        ),
    ],
)
def test_a_request_against_the_protocol(raw, line):
    with pytest.raises(BadRequest, match=line):
        read_request(raw)


def test_wrong_pictures_are_answered_with_400():
    document = body(0)
    image = document["messages"][1]["content"][-1]["image_url"]
    image["url"] = "data:image/png;base64,AAAA"
    [(status, text)] = played(make_player("random"), [document])
    assert status == 400
    assert b"expected a PNG" in text
    with pytest.raises(BadRequest, match="expected a panel of 972 x 320 or 646 x 320, got 3 x 2"):
        read_panel(np.zeros((2, 3, 3), np.uint8))


def test_one_answer_in_five_goes_wrong_and_the_same_ones_again():
    faults = Faults(ALL, 0.2, seed=7)
    drawn = [faults.of(f"{i:064x}", attempt) for i in range(500) for attempt in range(2)]
    share = sum(kind is not None for kind in drawn) / len(drawn)
    assert 0.15 < share < 0.25
    assert {kind for kind in drawn if kind} == set(ALL)
    assert drawn == [Faults(ALL, 0.2, seed=7).of(f"{i:064x}", attempt) for i in range(500) for attempt in range(2)]
    assert drawn[0::2] != drawn[1::2]
    spared = Faults(ALL, 1.0, most=2)
    assert [spared.of("x", attempt) is None for attempt in range(4)] == [False, False, True, True]


def test_names_of_faults():
    assert read_faults("429, 500,429") == ("429", "500")
    assert read_faults("all,quota") == KINDS
    assert read_faults("") == ()
    with pytest.raises(ValueError, match=r"faults: expected one of 429, .* got '418'"):
        Faults(read_faults("418"))
    with pytest.raises(ValueError, match="fault rate: expected a share from 0 to 1, got 2"):
        Faults(("429",), 2.0)


# What the client and the reader make of each fault, when it never ends.
SEEN = {
    "429": "rate_limit",
    "429_after": "rate_limit",
    "500": "server_error",
    "html": "not_json",
    "not_json": "not_json",
    "no_choices": "no_choices",
    "drop": "cut_body",
    "drop_before": "connection",
    "length": "truncated",
    "empty": "empty",
    "malformed": "no_object",
    "two": "two_objects",
    "illegal": "illegal_angle",
    "refusal": "refused",
    "quota": "stopped",
    "slow": "answered",
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"fault {kind}")
def test_every_fault_is_seen_as_what_it_is(kind):
    faults = Faults((kind,), 1.0, slow=0.05, after=0)

    async def run():
        app = make_app(random_player(), faults=faults)
        async with serving(app) as base, ChatClient(base, "fake", None, QUICK) as client:
            return await client.complete(make_prompt(question(1)))

    try:
        answer = asyncio.run(run())
    except InfrastructureError as error:
        seen = error.kind
    except Stopped:
        seen = "stopped"
    else:
        read = read_answer(answer.text, finish_reason=answer.finish_reason, refusal=answer.refusal)
        seen = read.code if isinstance(read, Malformed) else "answered"
        assert answer.attempts == 1
    assert seen == SEEN[kind]


def test_after_the_faults_the_answer_is_the_undisturbed_one(tmp_path):
    log = tmp_path / "log.jsonl"
    request = body(1)
    [(_, clean)] = played(random_player(), [request])
    faults = Faults(("500", "429"), 1.0, most=2)
    answers = played(random_player(), [request] * 3, faults=faults, log=AnswerLog(log))
    assert [status == 200 for status, _ in answers] == [False, False, True]
    assert answers[2][1] == clean
    lines = read_log(log)
    assert [(line["attempt"], line["status"] == 200) for line in lines] == [(0, False), (1, False), (2, True)]
    assert {line["content"] for line in lines} == {asked(1).content}
    assert {(line["chain"], line["pictures"]) for line in lines} == {(asked(1).chain, 2)}
    # A restarted endpoint goes on counting; a line that was cut does not count.
    log.write_text(log.read_text() + '{"content": ')
    assert len(read_log(log)) == 3
    [(status, _)] = played(random_player(), [request], faults=Faults(("500",), 1.0, most=4), log=AnswerLog(log))
    assert status == 500


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    from suites import write_tiny_suite

    return write_tiny_suite(tmp_path_factory.mktemp("fake") / "tiny")


def test_a_policy_is_found_again_from_the_pictures_and_the_history(tiny):
    task = jax.tree.map(np.asarray, rx.load_suite(tiny)[1])
    step = jax.jit(rx.step)
    state, seen = jax.jit(rx.reset)(task, rx.Params())
    greedy = jax.jit(lambda R: rx.POLICIES["pose_greedy"](jax.random.key(0), dataclasses.replace(state, R=R)))
    past, requests, expected = [], [], []
    for turn in range(4):
        target, view, current = (np.asarray(x) for x in (seen.target, seen.view, seen.current))
        panel = make_panel(target, view, current)
        prompt = make_prompt(Question("e", turn, 0, target, view, current, panel, tuple(past)))
        requests.append({"model": "fake", "messages": prompt.messages()})
        expected.append(ACTIONS[int(greedy(state.R))])
        # Not what the policy says: it has to follow the history.
        action = action_index("YAW_POS", 10) + turn
        past.append(Turn(panel, *ACTIONS[action], ""))
        state, seen = step(state, np.int32(action), rx.Params())
    # A task of another suite, and a history that is not whole.
    part = json.loads(json.dumps(requests[-1]))
    del part["messages"][1]["content"][1:3]
    answers = played(make_player("pose_greedy", suite=str(tiny)), [*requests, requests[-1], body(0), part])
    assert [status for status, _ in answers[5:]] == [400, 400]
    del answers[5:]
    assert [status for status, _ in answers] == [200] * 5
    said = [json.loads(json.loads(text)["choices"][0]["message"]["content"]) for _, text in answers]
    assert [(answer["type"], answer["angle"]) for answer in said] == [*map(tuple, expected), tuple(expected[-1])]


@pytest.mark.slow
def test_the_pixel_solver_answers_the_same_when_it_has_to_remember_from_the_history(monkeypatch):
    looks, look = [], pixels._look
    monkeypatch.setattr(pixels, "_look", lambda *given: looks.append(given) or look(*given))
    monkeypatch.setattr(pixels, "MEMORIES", 1)
    task = jax.tree.map(np.asarray, rx.load_suite("mini")[0])
    step = jax.jit(rx.step)
    state, seen = jax.jit(rx.reset)(task, rx.Params())
    player, past = make_player("pixels"), []
    for turn in range(15):
        if state.outcome != RUNNING:
            break
        target, view, current = (np.asarray(x) for x in (seen.target, seen.view, seen.current))
        panel = make_panel(target, view, current)
        prompt = make_prompt(Question("e", turn, 0, target, view, current, panel, tuple(past)))
        request = {"model": "fake", "messages": prompt.messages()}
        [(status, text)] = played(player, [request])
        answer = read_answer(json.loads(text)["choices"][0]["message"]["content"])
        assert status == 200
        past.append(Turn(panel, *ACTIONS[answer.action], answer.text))
        state, seen = step(state, np.int32(answer.action), rx.Params())
    # An episode that is remembered costs a look a turn, and a request that comes again none.
    assert played(player, [request]) == [(status, text)]
    assert len(looks) == len(past)
    assert played(make_player("pixels"), [request]) == [(status, text)]
    assert int(state.outcome) == SUCCESS


def test_players_that_cannot_be_made(tiny):
    with pytest.raises(ValueError, match="--play: expected one of random"):
        make_player("chess")
    with pytest.raises(ValueError, match="--play iou_greedy: expected the suite that is played"):
        make_player("iou_greedy")


def test_the_command_serves_until_it_is_told_to_stop(tmp_path):
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "rotajax", "serve-fake", "--port", "0", "--play", "stop", "--log", str(log)]
    command += ["--refuse", "seed", "--key-env", "FAKE_KEY"]
    own = {**os.environ, "FAKE_KEY": "sk-right-enough"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) as process:
        try:
            base = process.stdout.readline().split()[-1]

            async def run():
                key = Secret("sk-right-enough")
                async with ClientSession() as session, session.get(f"{base}/models", headers=key.header()) as response:
                    models = await response.json()
                async with ChatClient(base, "fake", None, QUICK) as client:
                    with pytest.raises(EndpointError, match="key"):
                        await client.complete(make_prompt(question(0)))
                async with ChatClient(base, "fake", key, QUICK) as client:
                    return models, await client.complete(make_prompt(question(0))), client.dialect

            models, answer, dialect = asyncio.run(run())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
    assert [model["id"] for model in models["data"]] == ["fake"]
    assert json.loads(answer.text)["type"] == "STOP"
    assert dialect.dropped == {"seed"}
    assert [line["status"] for line in read_log(log)] == [200]
