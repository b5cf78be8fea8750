"""The ReAct agent against a real server with scripted tool calls; its code runs in the real sandbox."""

import argparse
import asyncio
import json
import re

import numpy as np
import pytest

from agents import ANSWER, LIMITS, best_layers, calls, make_question, pictures, python, solve, tool_messages
from endpoints import QUICK, Script, bad, ok, serving
from rotajax.env.actions import STOP, action_index
from rotajax.solvers.agents import probe
from rotajax.solvers.agents.command import open_workshop
from rotajax.solvers.agents.probe import available
from rotajax.solvers.agents.react import react_solver
from rotajax.solvers.agents.sandbox import Layers, SandboxError
from rotajax.solvers.agents.tools import Workshop, task_files
from rotajax.solvers.client import ChatClient
from rotajax.solvers.loop import run_solver
from rotajax.solvers.parse import read_answer
from rotajax.solvers.question import Journal
from rotajax.solvers.reply import InfrastructureError
from rotajax.tasks.suite import load_suite
from suites import write_tiny_suite


@pytest.fixture(scope="session")
def layers():
    return best_layers()


@pytest.fixture
def workshop(layers):
    return Workshop(layers, LIMITS)


def react(workshop, *responses, **more):
    return solve(lambda client, **options: react_solver(client, workshop, **options), *responses, **more)


def test_react_works_on_its_pictures_and_answers(workshop):
    code = """
import numpy as np
from PIL import Image
target = np.asarray(Image.open("target.png").convert("L")) > 127
current = np.asarray(Image.open("current.png").convert("L")) > 127
print("pixels", target.sum(), current.sum(), (target & current).sum())
Image.fromarray((target ^ current).astype(np.uint8) * 255).save("difference.png")
"""
    question = make_question()
    first = calls(python(code), ("view_image", {"path": "oblique.png"}), text="Let me measure.")
    script, reply = react(workshop, first, ok(ANSWER), question=question)
    assert reply.action == action_index("YAW_POS", 30)
    assert reply.text == "turn it"
    asked, answered = script.bodies
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["python", "view_image"]
    assert "response_format" not in asked
    assert "At most 4 tool calls in total" in asked["messages"][0]["content"]
    assert "state_01.png to state_02.png" in asked["messages"][0]["content"]
    assert [message["role"] for message in answered["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert answered["messages"][:2] == asked["messages"]
    said = answered["messages"][2]
    assert said["content"] == "Let me measure."
    assert [call["id"] for call in said["tool_calls"]] == ["id-0", "id-1"]
    t, c = question.target, question.current
    measured, looked = tool_messages(answered)
    assert f"pixels {t.sum()} {c.sum()} {(t & c).sum()}\n" in measured
    assert "difference.png" in measured
    assert looked == "The picture follows: oblique.png"
    difference, oblique = pictures(answered)
    np.testing.assert_array_equal(np.asarray(difference)[..., 0] > 127, t ^ c)
    np.testing.assert_array_equal(np.asarray(oblique)[..., 0], question.view)
    fields = reply.fields
    assert fields["retries"] == 0
    assert fields["answers"] == 2
    assert [entry["tool"] for entry in fields["tools"]] == ["python", "view_image"]
    assert fields["tools"][0]["ended"] == "exit"
    json.dumps(fields, allow_nan=False)
    # Both answers were on record before they were acted on, tool calls with their arguments.
    assert [answer["role"] for answer in question.journal.added] == ["solver", "solver"]
    assert json.loads(question.journal.added[0]["tool_calls"][0]["arguments"]) == {"code": code}


def test_the_workspace_holds_what_the_model_sees_and_no_more(workshop):
    names = {
        "full": ["current.png", "oblique.png", "panel.png", "state_01.png", "state_02.png", "target.png"],
        "no_auxiliary": ["current.png", "panel.png", "state_01.png", "state_02.png", "target.png"],
        "no_history": ["current.png", "oblique.png", "panel.png", "target.png"],
        "neither": ["current.png", "panel.png", "target.png"],
    }
    for condition, expected in names.items():
        question = make_question(condition)
        assert sorted(task_files(question)) == expected
        script, _ = react(workshop, ok(ANSWER), question=question)
        system = script.bodies[0]["messages"][0]["content"]
        assert ("oblique.png" in system) == question.condition.auxiliary
        assert ("state_01.png" in system) == question.condition.history
    code = "import os; print(sorted(os.listdir('.')))"
    script, _ = react(workshop, calls(python(code)), ok(ANSWER))
    assert str(names["full"]) in tool_messages(script.bodies[1])[0]


def test_four_calls_a_step(workshop):
    three = calls(*[python(f"print('run {n}')") for n in range(3)])
    two = calls(python("print('run 3')"), python("print('run 4')"))
    script, reply = react(workshop, three, two, ok(ANSWER))
    said = tool_messages(script.bodies[2])
    assert [f"run {n}\n" in text + "\n" for n, text in enumerate(said)] == [True] * 4 + [False]
    assert said[4].startswith("Not run: the 4 tool calls of this step are used.")
    assert said[4].endswith("answer now with the JSON object.")
    assert "tools" in script.bodies[1]
    assert "tools" not in script.bodies[2]
    assert script.bodies[2]["response_format"] == {"type": "json_object"}
    assert reply.action is not None
    assert [entry["ended"] for entry in reply.fields["tools"]] == ["exit"] * 4 + ["not run"]


def test_a_call_that_is_not_offered_is_no_answer(workshop):
    used = calls(*[python("1")] * 4)
    again = calls(python("print('more')"))
    script, reply = react(workshop, used, again, ok(ANSWER))
    assert reply.action is not None
    assert reply.fields["codes"] == ["empty"]
    assert len(reply.fields["tools"]) == 4
    assert script.bodies[1] == script.bodies[2]  # asked again with the same bytes


def test_broken_calls_are_told_and_counted(workshop):
    broken = calls(("python", "not json"), ("python", '{"script": "1"}'), ("python", '{"code": 1}'), ("browse", "{}"))
    script, reply = react(workshop, broken, ok(ANSWER))
    said = tool_messages(script.bodies[1])
    assert all(text.startswith('Bad arguments: expected a JSON object {"code": "..."}') for text in said[:3])
    assert said[3].startswith("There is no tool 'browse': expected python or view_image.")
    assert reply.action is not None
    assert "tools" not in script.bodies[1]


BOMBS = {
    "import os\nwhile True: os.fork()": "PermissionError",
    "x = []\nwhile True: x.append(bytearray(1 << 24))": "MemoryError",
    "while True: print('x' * 5000)": "Stopped after",
    "while True: pass": "Stopped after",
    "import urllib.request\nurllib.request.urlopen('http://example.com')": "URLError",
    "open('/etc/passwd').read()": "Error",
    "import os\nos.kill(os.getpid(), 11)\nimport ctypes\nctypes.string_at(0)": "Killed by signal 11",
}


def test_bombs_end_and_the_step_goes_on(layers):
    workshop = Workshop(layers, LIMITS._replace(seconds=5.0))
    for group in (list(BOMBS)[:4], list(BOMBS)[4:]):
        after = "" if len(group) == 4 else "print('still', open('kept').read())"
        wanted = [python(code) for code in group]
        if after:
            wanted = [python("open('kept', 'w').write('here')"), *wanted[:2], python(after)]
        script, reply = react(workshop, calls(*wanted), ok(ANSWER))
        said = tool_messages(script.bodies[1])
        for (_, given), text in zip(wanted, said, strict=True):
            assert BOMBS.get(given["code"], "Exit status 0") in text
        if after:
            assert "still here" in said[-1]
        assert all(len(text) < 17_000 for text in said)
        assert reply.action == action_index("YAW_POS", 30)


def test_four_pictures_are_returned_and_the_others_named(workshop):
    code = """
from PIL import Image
for n in range(6):
    Image.new("L", (40, 30), n * 10).save(f"p{n}.png")
Image.open("target.png").save("a.jpg")
"""
    script, _ = react(workshop, calls(python(code)), ok(ANSWER))
    (said,) = tool_messages(script.bodies[1])
    assert "Pictures that follow: a.jpg, p0.png, p1.png, p2.png" in said
    assert "Not shown, beyond 4 pictures: p3.png, p4.png, p5.png" in said
    shown = pictures(script.bodies[1])
    assert [picture.size for picture in shown] == [(320, 320), (40, 30), (40, 30), (40, 30)]
    # The second call changes one of them: it alone comes back.
    change = "from PIL import Image; Image.new('RGB', (9000, 10), 'red').save('p1.png')"
    script, _ = react(workshop, calls(python(code)), calls(python(change)), ok(ANSWER))
    (large,) = pictures(script.bodies[2])
    assert large.size[0] == 2048  # made smaller
    assert large.mode == "RGB"


def test_a_decoders_complaints_shift_no_picture(workshop):
    code = """
from PIL import Image
palette = Image.new("P", (8, 8))
palette.putpalette([0, 0, 0, 255, 0, 0])
palette.save("a.png", transparency=bytes([0, 128]))  # a warning on conversion
Image.new("1", (10_000, 10_000)).save("b.png")  # a warning of its size
Image.new("RGB", (40, 30), "red").save("c.png")
"""
    script, _ = react(workshop, calls(python(code)), ok(ANSWER))
    assert "Pictures that follow: a.png, b.png, c.png" in tool_messages(script.bodies[1])[0]
    assert [picture.size for picture in pictures(script.bodies[1])] == [(8, 8), (2048, 2048), (40, 30)]


def test_names_and_texts_that_are_no_utf_8_do_not_end_the_run(workshop):
    code = "from PIL import Image; Image.new('L', (40, 30)).save(open(b'\\xff.png', 'wb'), 'PNG'); print('\\udc80')"
    odd = calls(python(code), text="broken \ud83d")
    script, reply = react(workshop, odd, ok(ANSWER))
    assert reply.action is not None
    assert script.bodies[1]["messages"][2]["content"] == "broken ?"
    assert "Pictures that follow: ?.png" in tool_messages(script.bodies[1])[0]
    assert [picture.size for picture in pictures(script.bodies[1])] == [(40, 30)]


def test_the_viewer_shows_pictures_of_the_workspace_only(workshop):
    code = """
import os
os.symlink("/usr/share", "out")
os.symlink("target.png", "link.png")
open("text.png", "w").write("no picture")
os.mkdir("sub")
os.rename("current.png", "sub/current.png")
open("huge.png", "wb").write(open("target.png", "rb").read()[:40])
"""
    looks = [("view_image", {"path": path}) for path in ("link.png", "text.png", "./sub/../sub/current.png")]
    script, reply = react(workshop, calls(python(code), *looks), ok(ANSWER))
    said = tool_messages(script.bodies[1])
    assert "cannot identify image file" in said[0]  # text.png and huge.png were written, and are no pictures
    assert said[1].startswith("No such file in the workspace: 'link.png'. It holds: huge.png")
    assert said[2].startswith("text.png: cannot identify")
    assert said[3].startswith("The picture follows: sub/current.png")
    assert reply.action is not None
    outside = [("view_image", {"path": path}) for path in ("/etc/passwd", "../../etc/passwd", "", "\0")]
    script, _ = react(workshop, calls(*outside), ok(ANSWER))
    assert all(text.startswith("No such file in the workspace:") for text in tool_messages(script.bodies[1]))


def test_illegal_answers_are_asked_again_six_times(workshop):
    script, reply = react(workshop, ok("I think left."), ok('{"cot":"x","type":"YAW_POS","angle":45}'), ok(ANSWER))
    assert reply.action is not None
    assert reply.fields["codes"] == ["no_object", "illegal_angle"]
    assert reply.fields["retries"] == 2
    assert script.bodies[0] == script.bodies[2]
    script, reply = react(workshop, ok("no"))
    assert (reply.action, reply.failure, len(script.bodies)) == (None, "no_object", 7)


def test_answers_on_record_are_not_asked_for_again(workshop):
    write, read = "open('n', 'w').write('17')", "print('kept', open('n').read())"
    question = make_question()
    responses = [calls(python(write)), calls(python(read)), ok(ANSWER)]
    _, whole = react(workshop, *responses, question=question)
    for done in range(4):
        # Killed after so many answers: the next run has them in its journal.
        again = make_question(journal=Journal(question.journal.added[:done]))
        script_again, reply = react(workshop, *responses[min(done, 2) :], question=again)
        assert len(script_again.bodies) == 3 - done
        assert reply.action == whole.action
        assert reply.fields["answers"] == 3
        assert again.journal.added == [] if done == 3 else len(again.journal.added) == 3 - done
        if done < 3:  # the workspace is made anew by the calls on record
            assert "kept 17" in tool_messages(script_again.bodies[-1])[1]


def test_silence_and_a_broken_endpoint_are_not_the_models(workshop):
    silent = ok("", usage={"prompt_tokens": 5, "completion_tokens": 0})
    script, error = react(workshop, silent, retries=2)
    assert isinstance(error, InfrastructureError)
    assert (error.kind, len(script.bodies)) == ("no_tokens", 3)
    _, error = react(workshop, calls(python("1")), bad(500))
    assert isinstance(error, InfrastructureError)
    script, reply = react(workshop, silent, calls(python("1")), ok(ANSWER))
    assert reply.action is not None
    assert reply.fields["silent"] == 1


def test_an_agent_plays_a_suite(workshop, tmp_path):
    suite = load_suite(write_tiny_suite(tmp_path / "suite"))
    bomb = calls(python("import os\nwhile True: os.fork()"), python("print(len(open('panel.png', 'rb').read()))"))
    stop = ok('{"cot":"done","type":"STOP","angle":0}')

    async def play():
        script = Script(bomb, ok(ANSWER), bomb, stop)
        async with serving(script.app()) as base:
            solver = react_solver(ChatClient(base, "m", None, QUICK), workshop)
            run = lambda: run_solver(suite, solver, tmp_path / "run", name="m", limit=1, progress=False)  # noqa: E731
            return await asyncio.to_thread(run), script

    summary, script = asyncio.run(play())
    assert len(script.bodies) == 4
    (row,) = summary["rows"]
    assert row["episodes"] == 1
    lines = [json.loads(line) for line in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()]
    decisions = [line for line in lines if line["kind"] == "decision"]
    assert [line["action"] for line in decisions] == ["YAW_POS", "STOP"]
    assert [[tool["ended"] for tool in line["tools"]] for line in decisions] == [["exit", "exit"]] * 2
    # Neither the suite's numbers nor its folder reach a request.
    sent = re.sub(r"base64,[\w+/=]+", "", json.dumps(script.bodies)).lower()
    sent = sent.replace("rotations use", "").replace("pose cue", "")  # the paper's own words
    for secret in ("iou", "pose", "reference", "rotation", "single_", str(tmp_path)):
        assert secret not in sent, secret


def test_an_agent_refuses_a_machine_that_does_not_enforce(monkeypatch, tmp_path):
    # The same machine, asked to do without name spaces: then nothing limits the size of a folder.
    monkeypatch.setattr(probe, "CHOICES", (Layers(namespaces=False),))
    available.cache_clear()
    args = argparse.Namespace(suite="mini", out=None, allow_unsandboxed=None)
    try:
        with pytest.raises(SandboxError, match=r"does not enforce: .*workspace"):
            open_workshop(args)
        args.allow_unsandboxed = ["workspace"]
        missing = available().missing
        if missing == ("workspace",):
            shop, told = open_workshop(args)
            assert shop.layers == Layers(namespaces=False)
            assert told["sandbox"]["not_enforced"] == ["workspace"]
        else:  # here it leaves more open, and says so
            with pytest.raises(SandboxError, match=missing[0]):
                open_workshop(args)
        args.allow_unsandboxed = list(missing)
        shop, told = open_workshop(args)
        assert told["sandbox"]["not_enforced"] == list(missing)
        assert told["limits"]["seconds"] == 300
        assert (shop.limits.memory_mib, shop.limits.workspace_mib, shop.calls) == (4096, 64, 4)
    finally:
        available.cache_clear()


def test_stop_is_an_answer(workshop):
    _, reply = react(workshop, ok('{"cot":"done","type":"STOP","angle":0}'))
    assert reply.action == STOP
    assert read_answer(reply.fields["reply"]).action == STOP
