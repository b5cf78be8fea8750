"""One command on several processes: the bytes of one, and an end when another is lost. CPU devices, gloo."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rotajax.cli import main
from rotajax.processes import agree, is_leader
from rotajax.tasks import folder
from suites import write_tiny_suite

ROOT = Path(__file__).parents[1]
BASELINES = ("baselines", "--policies", "pose_greedy", "uniform_random", "--seeds", "1", "--limit", "4")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the suite in it; the commands run there and keep their compiled programs there."""
    path = tmp_path_factory.mktemp("place")
    write_tiny_suite(path / "tiny")
    return path


def start(place, words, *more):
    environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")}
    environment |= {"XDG_CACHE_HOME": str(place / "cache"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "rotajax", *map(str, words), *map(str, more)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=place, env=environment, **pipes)


def start_pair(place, words):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = ("--devices", 1, "--coordinator", f"127.0.0.1:{port}", "--processes", 2)
    return [start(place, words, *shared, "--process", number) for number in (0, 1)]


def finish(*processes):
    said = [process.communicate(timeout=400) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    # Gloo itself greets on standard output.
    return ["".join(line for line in out.splitlines(True) if not line.startswith("[Gloo]")) for out, _ in said]


def results(path):
    return {name: (path / name).read_bytes() for name in ("episodes.jsonl", "summary.json")}


@pytest.fixture(scope="module")
def alone(place):
    finish(start(place, BASELINES, "--suite", "tiny", "--out", "alone", "--devices", 2))
    return place / "alone"


def test_two_processes_play_what_one_plays(place, alone):
    leader, other = finish(*start_pair(place, [*BASELINES, "--suite", "tiny", "--out", "pair"]))
    assert results(place / "pair") == results(alone)
    assert b'"policy":"uniform_random"' in results(alone)["episodes.jsonl"]
    # One of them writes and speaks.
    assert "| pose_greedy " in leader
    assert other == ""
    assert json.loads((place / "pair" / "run.json").read_text())["device"] == "2 x cpu"
    assert sorted(path.name for path in (place / "pair").iterdir()) == sorted(path.name for path in alone.iterdir())


@pytest.mark.slow
def test_one_device_plays_what_two_play_and_a_pair_goes_on_with_their_run(place, alone):
    finish(start(place, BASELINES, "--suite", "tiny", "--out", "single", "--devices", 1))
    assert results(place / "single") == results(alone)
    # Half of it taken away: two processes agree on what is left.
    file = place / "single" / "episodes.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines, 1) if b'"kind":"episode"' in line]
    file.write_bytes(b"".join(lines[: ends[len(ends) // 2]]))
    (place / "single" / "summary.json").unlink()
    finish(*start_pair(place, [*BASELINES, "--suite", "tiny", "--out", "single"]))
    assert results(place / "single") == results(alone)


@pytest.fixture(scope="module")
def searched(place):
    shutil.copytree(place / "tiny", place / "searched")
    finish(start(place, ["suite", "search", "searched"], "--devices", 2))
    return place / "searched"


@pytest.mark.slow
def test_two_processes_and_one_device_search_what_two_devices_search(place, searched):
    for name, run in (
        ("single", lambda words: finish(start(place, words, "--devices", 1))),
        ("pair", lambda words: finish(*start_pair(place, words))),
    ):
        path = shutil.copytree(place / "tiny", place / f"searched-{name}")
        said = run(["suite", "search", path.name])
        for file in ("suite.json", "search.jsonl"):
            assert (path / file).read_bytes() == (searched / file).read_bytes()
        assert [line.startswith("suite tiny version 1: 3 tasks") for line in said] == [True, False][: len(said)]
    assert all(row["reference"] for row in folder.read_document(searched)["tasks"])


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_process_ends_the_other_and_the_run_goes_on_when_started_again(place, searched, lost):
    path = shutil.copytree(place / "tiny", place / f"lost-{lost}")
    words = ["suite", "search", path.name]
    pair = start_pair(place, words)
    log, begun = path / "search.jsonl", time.monotonic()
    while not (log.exists() and log.read_bytes().count(b"\n")) and time.monotonic() - begun < 300:
        assert [process.poll() for process in pair] == [None, None]
        time.sleep(0.05)
    pair[lost].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    _, said = pair[1 - lost].communicate(timeout=120)
    pair[lost].communicate()
    assert pair[1 - lost].returncode not in (0, None)
    assert time.monotonic() - killed < 100
    # Ours where the connection broke first, jax's own where its service noticed first.
    named = "many processes: expected all 2 to answer, got a lost one; the same command on all of them goes on" in said
    assert named or "another task died" in said
    assert log.read_bytes().count(b"\n") in (1, 2)
    finish(*start_pair(place, words))
    assert (path / "suite.json").read_bytes() == (searched / "suite.json").read_bytes()


def test_options_of_many_processes_come_together(capsys, monkeypatch):
    monkeypatch.setattr("rotajax.cli.baselines.prepare_jax", lambda **_: None)
    cases = {
        ("--processes", "2"): "many processes: expected --coordinator, --processes and --process together, got only",
        (
            "--coordinator",
            "x:1",
            "--processes",
            "0",
            "--process",
            "0",
        ): "--processes: expected a whole number of at least 1",
        ("--coordinator", "x:1", "--processes", "2", "--process", "2"): "--process: expected 0 to 1, got 2",
    }
    for words, message in cases.items():
        assert main(["baselines", *words]) == 2
        assert message in capsys.readouterr().err


def test_one_process_is_its_own_leader():
    assert is_leader()
    assert agree({"a": [1, None]}) == {"a": [1, None]}
