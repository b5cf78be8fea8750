import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rotajax.baselines import chunk_size, run_baselines
from rotajax.policies.baseline import POLICIES, uniform_random
from rotajax.records import OUTCOMES, read_run
from rotajax.tasks.suite import load_suite
from suites import write_tiny_suite

RESULTS = ("episodes.jsonl", "summary.json", "iou_steps.png")
# In chunks of 2: four chunks of the random policy, of which the third is torn by the kill, and two of the greedy one.
REQUEST = (["uniform_random", "pose_greedy"], 2)
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")


@pytest.fixture(scope="module")
def suite(folder):
    return load_suite(folder)


@pytest.fixture(scope="module")
def undisturbed(suite, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "undisturbed"
    run_baselines(suite, *REQUEST, out, chunk=2, progress=False)
    return out


def contents(out):
    return {name: (out / name).read_bytes() for name in RESULTS}


def test_what_was_played_is_what_the_rules_allow(undisturbed, suite):
    run = read_run(undisturbed)
    assert run.policies == ("uniform_random", "pose_greedy")
    assert run.tasks == tuple(suite.ids)
    greedy = run.episodes.policy == 1
    assert (greedy.sum(), len(run.episodes)) == (3, 9)
    assert {OUTCOMES[o] for o in run.episodes.outcome[greedy]} == {"success"}
    assert (run.episodes.final_iou[greedy] >= 0.9).all()
    assert (run.episodes.steps <= 48).all()
    # The greedy one's error falls at every step; the recorded start is the suite's.
    of_greedy = greedy[run.decisions.episode]
    assert (run.decisions.pose_error_after[of_greedy] < run.decisions.pose_error_before[of_greedy]).all()
    first = run.episodes.first
    start = np.asarray(suite.tasks.start)[run.episodes.task]
    assert (run.decisions.rotation[first] == start).all()
    rows = json.loads((undisturbed / "summary.json").read_text())["rows"]
    assert (rows[1]["policy"], rows[1]["effective_direction_pct"], rows[1]["success_pct"]) == ("pose_greedy", 100, 100)


def test_the_same_request_elsewhere_gives_the_same_bytes(undisturbed, suite, tmp_path):
    run_baselines(suite, *REQUEST, tmp_path / "again", chunk=2, progress=False)
    assert contents(tmp_path / "again") == contents(undisturbed)


def test_the_chunk_changes_nothing_and_a_part_of_one_compiles_nothing(undisturbed, suite, tmp_path, monkeypatch):
    traces = []

    def counted(key, state):
        traces.append(1)
        return uniform_random(key, state)

    monkeypatch.setitem(POLICIES, "uniform_random", counted)
    run_baselines(suite, ["uniform_random"], 2, tmp_path / "whole", chunk=4, progress=False)
    random_lines = b"".join(
        line for line in (undisturbed / "episodes.jsonl").read_bytes().splitlines(True) if b"uniform_random" in line
    )
    assert (tmp_path / "whole" / "episodes.jsonl").read_bytes() == random_lines
    once = len(traces)
    assert once > 0
    # One task of four is left over: it is played in the shape of a whole chunk.
    cut = random_lines[: random_lines.rindex(b'"kind":"episode"')].rindex(b'"kind":"episode"')
    (tmp_path / "whole" / "episodes.jsonl").write_bytes(random_lines[: random_lines.index(b"\n", cut) + 1])
    run_baselines(suite, ["uniform_random"], 2, tmp_path / "whole", chunk=4, progress=False)
    assert (tmp_path / "whole" / "episodes.jsonl").read_bytes() == random_lines
    assert len(traces) == once


KILLED = """
import os, signal, sys
from rotajax.baselines import run_baselines
from rotajax.tasks.suite import load_suite
write, calls = os.write, []
def torn(handle, data):
    calls.append(len(data))
    if len(calls) == 3:  # the third chunk: half of it, and dead
        write(handle, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return write(handle, data)
os.write = torn
run_baselines(load_suite(sys.argv[1]), ["uniform_random", "pose_greedy"], 2, sys.argv[2], chunk=2, progress=False)
"""


def test_a_killed_run_goes_on_and_ends_as_if_undisturbed(undisturbed, suite, folder, tmp_path):
    out = tmp_path / "killed"
    command = [sys.executable, "-c", KILLED, str(folder), str(out)]
    assert subprocess.run(command, cwd=ROOT, env=os.environ, check=False).returncode == -signal.SIGKILL
    left = (out / "episodes.jsonl").read_bytes()
    assert not left.endswith(b"\n")
    assert (undisturbed / "episodes.jsonl").read_bytes().startswith(left)
    notes = []
    run_baselines(suite, *REQUEST, out, chunk=2, progress=False, say=notes.append)
    assert "torn" in notes[0]
    assert contents(out) == contents(undisturbed)


def test_mistakes_are_named_before_anything_is_written(suite, tmp_path, undisturbed):
    out = tmp_path / "none"
    cases = [
        (
            (["sideways"], 1),
            "baselines: policy: expected one of uniform_random, random_rollback, iou_greedy, pose_greedy",
        ),
        (([], 1), "number of policies: expected a whole number of at least 1, got 0"),
        ((["pose_greedy"], 0), "--seeds: expected a whole number of at least 1, got 0"),
    ]
    for request, message in cases:
        with pytest.raises(ValueError, match="expected") as caught:
            run_baselines(suite, *request, out)
        assert message in str(caught.value)
    assert not out.exists()
    with pytest.raises(ValueError, match="belongs to another run: seeds"):
        run_baselines(suite, REQUEST[0], 3, undisturbed)


@pytest.mark.parametrize(
    ("tasks", "devices", "platform", "size"),
    [
        (100, 2, "cpu", 10),
        (24, 2, "cpu", 12),
        (3, 2, "cpu", 4),
        (1, 8, "cpu", 8),
        (100, 1, "gpu", 50),
        (64, 1, "gpu", 64),
    ],
)
def test_chunks_leave_little_empty(tasks, devices, platform, size):
    assert chunk_size(tasks, devices, platform) == size
