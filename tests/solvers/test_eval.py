"""`rotajax eval` as it is typed."""

import json
import re
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from endpoints import serving
from rotajax.cli import main
from rotajax.cli.eval import INCOMPLETE
from rotajax.solvers.fake.faults import Faults
from rotajax.solvers.fake.players import make_player
from rotajax.solvers.fake.server import make_app

ROOT = Path(__file__).parents[2]
KEY = "sk-" + "Yx4" * 12


@contextmanager
def served(app):
    """The address of an application that runs in a thread, as another machine's would."""
    import asyncio

    ready, loop, done = threading.Event(), asyncio.new_event_loop(), asyncio.Event()
    address = []

    async def serve():
        async with serving(app) as base:
            address.append(base)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield address[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    monkeypatch.setattr("rotajax.cli.eval.prepare_jax", lambda **_: None)
    for name in ("OPENAI_API_KEY", "ROTAJAX_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def refused(capsys):
    def run(*words):
        assert main(["eval", *map(str, words)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        return said.err.strip()

    return run


def on(base, suite, out):
    """The words of an eval of the local endpoint, three episodes at once."""
    words = ["eval", "--model", "fake", "--base-url", base, "--suite", suite, "--out", out, "--in-flight", 3]
    return list(map(str, words))


def test_a_model_plays_a_suite_and_the_report_says_what_went_wrong(tiny_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MY_KEY", KEY)
    prices = tmp_path / "prices.json"
    prices.write_text('{"format": "rotajax.prices/1", "models": {"fake": {"input": 5.0, "output": 30.0}}}')
    faults = Faults(("malformed", "refusal", "length", "500"), rate=0.3, most=2)
    out = tmp_path / "run"
    with served(make_app(make_player("random"), faults=faults)) as base:
        words = [*on(base, tiny_folder, out), "--key-env", "MY_KEY", "--prices", str(prices), "--max-cost", "50"]
        assert main(words) == 0
        said = capsys.readouterr()
        assert main(words) == 0
    summary = json.loads((out / "summary.json").read_text())["solver"]
    assert re.search(r"n = 3 of 3 episodes ended; success 0\.0 % \[0\.0, 56\.\d\], final IoU 0\.\d+, steps", said.out)
    counted = summary["malformed"]
    assert counted["answers"] == sum(n for code, n in counted.items() if code != "answers") > 0
    assert f"malformed answers {counted['answers']} (" in said.out
    assert f"refused {summary['refused']}, truncated {summary['truncated']}; failed decisions 0" in said.out
    assert summary["answers"] == summary["decisions"] + counted["answers"]
    # The second time there was nothing left to ask.
    assert summary["preflight"] == 1
    assert f"answers {summary['answers']} and 1 to a first call: " in said.out
    texts = [(out / f"{name}.jsonl").read_text() for name in ("preflight", "answers")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    assert summary["cost"] == pytest.approx(sum(line["cost"] for line in lines))
    assert lines[0]["cost"] > 0
    assert f"cost {summary['cost']:.4f}" in said.out
    assert summary["retries"]["within_2_pct"] == 100.0
    assert (out / "iou_steps.png").read_bytes().startswith(b"\x89PNG")
    asked = json.loads((out / "run.json").read_text())["asked"]
    assert asked["solver"]["temperature"] == 0
    assert (asked["solver"]["seed"], asked["solver"]["effort"], asked["solver"]["max_tokens"]) == (42, "medium", 8192)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert KEY not in said.out + said.err


def test_a_budget_stops_a_run_and_more_of_it_goes_on(tiny_folder, tmp_path, capsys):
    prices = tmp_path / "prices.json"
    prices.write_text('{"format": "rotajax.prices/1", "models": {"fake": {"input": 5.0, "output": 30.0}}}')
    with served(make_app(make_player("random"))) as base:
        words = [
            "--model",
            "fake",
            "--base-url",
            base,
            "--suite",
            tiny_folder,
            "--in-flight",
            3,
            "--out",
            tmp_path / "run",
        ]
        words = list(map(str, ["eval", *words, "--prices", prices, "--no-preflight", "--max-cost"]))
        assert main([*words, "0.1"]) == INCOMPLETE
        said = capsys.readouterr().err
        first = json.loads((tmp_path / "run" / "summary.json").read_text())["solver"]
        assert 0 < first["cost"] <= 0.1
        assert re.search(r"rotajax: stopped: --max-cost: spent 0\.\d+ of 0\.1.*; 3 episodes are left: the same", said)
        assert main([*words, "100"]) == 0
    second = json.loads((tmp_path / "run" / "summary.json").read_text())["solver"]
    assert second["answers"] == second["decisions"] > first["answers"]


def test_first_calls_are_paid_from_the_budget(tiny_folder, tmp_path, capsys):
    prices = tmp_path / "prices.json"
    prices.write_text('{"format": "rotajax.prices/1", "models": {"fake": {"input": 5.0, "output": 30.0}}}')
    with served(make_app(make_player("random"))) as base:
        words = [*on(base, tiny_folder, tmp_path / "run"), "--prices", str(prices), "--max-cost"]
        # 48 pictures of 310 tokens are 0.0745, so that each run has money for its first call alone.
        assert main([*words, "0.075"]) == INCOMPLETE
        assert "3 episodes are left" in capsys.readouterr().err
        assert main([*words, "0.1"]) == INCOMPLETE
        said = capsys.readouterr()
    assert re.search(r"stopped: first call: --max-cost: spent 0\.07\d+ of 0\.1", said.err)
    assert "answers 0 and 1 to a first call: " in said.out
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())["solver"]
    assert (summary["answers"], summary["preflight"], summary["decisions"]) == (0, 1, 0)
    assert 0.0745 < summary["cost"] < 0.075


def test_an_exhausted_quota_stops_resumably(tiny_folder, tmp_path, capsys):
    with served(make_app(make_player("random"), faults=Faults(("quota",), rate=1.0))) as base:
        words = [
            "--model",
            "fake",
            "--base-url",
            base,
            "--suite",
            tiny_folder,
            "--in-flight",
            3,
            "--out",
            tmp_path / "run",
        ]
        words = list(map(str, ["eval", *words]))
        assert main([*words, "--no-preflight"]) == INCOMPLETE
        assert "stopped: the quota is exhausted" in capsys.readouterr().err
        assert main(words) == INCOMPLETE
    assert "stopped: first call: the quota is exhausted" in capsys.readouterr().err


def test_a_dry_run_sends_and_writes_nothing(tiny_folder, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["eval", "--suite", str(tiny_folder), "--out", str(out), "--model", "m", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "3 episodes of suite" in said
    assert "48 decisions an episode: 144 requests" in said
    assert not out.exists()


def test_mistakes_are_one_line(refused, tiny_folder, tmp_path):
    base = ("--suite", tiny_folder, "--out", tmp_path / "run")
    assert refused(*base) == "rotajax: eval --solver api: --model: expected the name of a model, got none"
    assert "--base-url: expected the address of an endpoint" in refused(*base, "--model", "m")
    there = (*base, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert "--key-env NO_KEY: expected a variable that is set, got none" in refused(*there, "--key-env", "NO_KEY")
    assert "--max-cost: expected --prices FILE beside it" in refused(*there, "--max-cost", "1")
    assert "argument --condition: invalid choice: 'blind'" in refused(*base, "--condition", "blind")
    assert "--solver: expected one of api, pixels, react" in refused(*base, "--solver", "psychic")
    assert "expected a module 'no_such', got: No module named 'no_such'" in refused(*base, "--solver", "no_such:f")
    assert "--solver: json: expected a function nothing, got None" in refused(*base, "--solver", "json:nothing")
    assert "--dry-run: expected a solver of api, react, magentic" in refused(*base, "--solver", "pixels", "--dry-run")
    assert not (tmp_path / "run").exists()


def test_a_wrong_address_is_one_line(refused, tiny_folder, tmp_path):
    line = refused(*on("http://127.0.0.1:9/v1", tiny_folder, tmp_path / "run")[1:])
    assert line.startswith("rotajax: base-url: expected a server that answers, got")


def test_the_solver_of_the_guide_is_ten_lines_and_runs_both_ways(tmp_path, monkeypatch, capsys):
    guide = (ROOT / "docs" / "solvers.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", guide, re.S)
    own, _ = code.split("summary = ")
    assert len([line for line in own.splitlines() if line.strip()]) <= 10
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/solvers.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "{'stop': 2}" in shown
    Path("my_solver.py").write_text(own)
    monkeypatch.syspath_prepend(str(tmp_path))
    [command] = re.findall(r"`rotajax (eval --solver my_solver.*?)`", guide)
    words = command.replace("runs/mine", "runs/typed").split()
    assert main([*words, "--limit", "2", "--name", "mine"]) == 0
    names = [Path(f"runs/{name}/episodes.jsonl").read_text() for name in ("mine", "typed")]
    assert names[0] == names[1]
