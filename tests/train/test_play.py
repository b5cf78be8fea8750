import asyncio
from argparse import Namespace

import jax
import numpy as np
import pytest

from rotajax.baselines import run_baselines
from rotajax.records import read_run
from rotajax.solvers.picture import make_panel
from rotajax.solvers.question import CONDITIONS, Question, Turn
from rotajax.train import checkpoint
from rotajax.train.policy import blank_policy, load_agent
from rotajax.train.solver import build

IDENTITY = {"id": "tiny", "version": 1, "sha256": "0" * 64}


@pytest.fixture(scope="module")
def untrained(recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy") / "small"
    return checkpoint.save(folder, recipe, IDENTITY, 0, jax.device_get(blank_policy(recipe)), None)


@pytest.fixture(scope="module")
def played(untrained, suite, tmp_path_factory):
    out = tmp_path_factory.mktemp("played") / "run"
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        summary = run_baselines(suite, [f"checkpoint:{untrained}", "pose_greedy"], 1, out, progress=False)
    return summary, read_run(out)


def test_a_checkpoint_stands_in_the_usual_table(played, untrained):
    summary, run = played
    assert [row["policy"] for row in summary["rows"]] == [f"checkpoint:{untrained}", "pose_greedy"]
    assert summary["rows"][0]["episodes"] == 3
    assert (run.decisions.action < 24).all()


def test_as_a_solver_it_takes_the_same_rotations(played, untrained, suite):
    """The pictures of the recorded poses, drawn exactly, through the solver: the actions of the recorded game."""
    from rotajax.render.shade import shade
    from rotajax.render.splat import splat

    _, run = played
    rows = np.flatnonzero(run.decisions.episode == 0)[:4]
    solid = jax.tree.map(lambda leaf: leaf[0], suite.tasks.solid)
    draw = jax.jit(lambda R: (splat(solid, R), shade(solid, R)))
    target = np.asarray(draw(np.eye(3, dtype=np.float32))[0])
    solver, fresh = (build(Namespace(solver=f"checkpoint:{untrained}", argument=str(untrained))) for _ in range(2))
    history = []
    for turn, row in enumerate(rows):
        R = np.asarray(run.decisions.rotation[row], np.float32).reshape(3, 3)
        current, view = map(np.asarray, draw(R))
        panel = make_panel(target, view, current)
        question = Question("e", turn, 0, target, view, current, panel, tuple(history), CONDITIONS["full"])
        reply = asyncio.run(solver(question))
        assert reply.action == int(run.decisions.action[row])
        history.append(Turn(panel, *reply.named, ""))
    # One that was started in the middle finds its belief in the history.
    assert asyncio.run(fresh(question)).action == int(run.decisions.action[rows[-1]])


def test_a_name_that_is_no_policy_is_refused(suite, tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint:DIR, got 'checkpoint'"):
        run_baselines(suite, ["checkpoint"], 1, tmp_path, progress=False)
    with pytest.raises(ValueError, match="nothing at"):
        run_baselines(suite, [f"checkpoint:{tmp_path / 'none'}"], 1, tmp_path / "o", progress=False)


def test_a_habit_can_be_changed(untrained):
    from rotajax.train.belief import Habits

    assert float(load_agent(untrained, Habits(keep=np.float32(0.5))).habits.keep) == 0.5
