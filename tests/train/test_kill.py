import os
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from rotajax.train import checkpoint
from rotajax.train.metrics import read_metrics
from rotajax.train.policy import blank_policy

SHAPE = [
    "--updates",
    "40",
    "--width",
    "8",
    "--depth",
    "1",
    "--match",
    "4",
    "--free",
    "8",
    "--games",
    "2",
    "--turns",
    "2",
    "--epochs",
    "1",
    "--batch",
    "4",
]


def command(folder, out, *words):
    return [sys.executable, "-m", "rotajax", "train", "imitation", "--suite", folder, "--out", out, *SHAPE, *words]


def weights(out):
    found = checkpoint.find(out)
    policy = checkpoint.restore(found, "policy", blank_policy(checkpoint.read_recipe(found)))
    return [np.asarray(leaf) for leaf in jax.tree.leaves(policy)]


def run(words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_a_killed_run_ends_with_the_weights_of_an_undisturbed_one(tiny_folder, tmp_path):
    whole = run(command(tiny_folder, tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    killed = tmp_path / "killed"
    process = subprocess.Popen([str(w) for w in command(tiny_folder, killed)], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 300
    while not list(killed.glob("checkpoints/0*/meta.json")) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (killed / "checkpoints" / "000040").exists(), "killed too late: it had ended"
    refused = run(command(tiny_folder, killed))
    assert refused.returncode == 2
    assert "expected a new folder, or --resume" in refused.stderr
    other = run(command(tiny_folder, killed, "--resume", "--seed", "1"))
    assert other.returncode == 2
    assert "seed: expected 1, got 0 in the checkpoint" in other.stderr
    resumed = run(command(tiny_folder, killed, "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert "goes on from update 20" in resumed.stderr
    for a, b in zip(weights(tmp_path / "whole"), weights(killed), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    mine, theirs = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("whole", "killed"))
    assert [line["update"] for line in theirs] == list(range(1, 41))
    assert [line["loss"] for line in mine] == pytest.approx([line["loss"] for line in theirs], abs=1e-4)


def test_a_manifests_name_is_answered_with_the_command_that_makes_its_folder(tmp_path):
    done = run([sys.executable, "-m", "rotajax", "train", "imitation", "--suite", "rota674", "--out", tmp_path / "o"])
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "rotajax suite materialise rota674 --icons game-icons --split train --out suites/train" in done.stderr
