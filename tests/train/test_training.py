import dataclasses
import json
import os
import shutil
import subprocess
import sys

import jax
import numpy as np
import pytest

from rotajax.env.state import Params
from rotajax.train import checkpoint, imitation, ppo
from rotajax.train.metrics import Metrics, draw_metrics, read_metrics
from rotajax.train.policy import blank_policy, load_agent, make_agent
from rotajax.train.run import ship, train

IDENTITY = {"id": "tiny", "version": 1, "sha256": "0" * 64}


def numbers(tree):
    keys = jax.dtypes.prng_key
    leaves = jax.tree.leaves(jax.device_get(tree))
    return [np.asarray(jax.random.key_data(v) if jax.dtypes.issubdtype(v.dtype, keys) else v) for v in leaves]


def same(a, b):
    for x, y in zip(numbers(a), numbers(b), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-6)


def step_of(kind, recipe, world, lookup):
    update = kind.make_update(recipe, Params())

    def loop(learner):
        return jax.lax.scan(lambda now, _: update(now, world, lookup), learner, None, length=recipe.loop)

    return jax.jit(loop)


@pytest.fixture(scope="module")
def imitated(world, lookup, recipe):
    """The step, the learner before it, after four updates, after eight, and the metrics."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        step = step_of(imitation, recipe, world, lookup)
        first = jax.jit(lambda world: imitation.start(recipe, world, Params()))(world)
        states, metrics = [first], []
        for _ in range(recipe.updates // recipe.loop):
            learner, found = step(states[-1])
            states.append(learner)
            metrics.append(found)
    return step, states, metrics


@pytest.fixture(scope="module")
def policy(recipe):
    return jax.device_get(blank_policy(recipe))


@pytest.fixture(scope="module")
def learner(policy):
    return {**policy, "key": jax.random.key(3), "update": np.int32(4)}


@pytest.fixture(scope="module")
def saved(recipe, policy, learner, tmp_path_factory):
    return checkpoint.save(tmp_path_factory.mktemp("saved") / "000004", recipe, IDENTITY, 4, policy, learner)


@pytest.mark.slow
def test_training_changes_the_network_and_counts(imitated):
    _, states, metrics = imitated
    assert int(states[-1].update) == 8
    moved = [np.abs(a - b).max() for a, b in zip(numbers(states[0].net), numbers(states[-1].net), strict=True)]
    assert min(moved) > 0
    assert all(np.isfinite(value).all() for found in metrics for value in found.values())
    assert float(metrics[-1]["pose_loss"].mean()) < float(metrics[0]["pose_loss"].mean())
    np.testing.assert_allclose(np.asarray(states[-1].tilts).sum(), 1, atol=1e-5)


@pytest.mark.slow
def test_the_same_seed_is_the_same_run(imitated, world, recipe):
    step, states, _ = imitated
    again = jax.jit(lambda world: imitation.start(recipe, world, Params()))(world)
    same(step(again)[0], states[1])
    other = dataclasses.replace(recipe, seed=1)
    different = jax.jit(lambda world: imitation.start(other, world, Params()))(world)
    assert (np.asarray(different.seen.current) != np.asarray(states[0].seen.current)).any()


def test_what_was_saved_comes_back_keys_too(saved, learner):
    same(checkpoint.restore(saved, "learner", learner), learner)


@pytest.mark.slow
def test_a_restored_run_makes_the_same_next_updates(imitated, recipe, tmp_path):
    step, states, _ = imitated
    middle = jax.device_get(states[2])
    folder = checkpoint.save(tmp_path / "000004", recipe, IDENTITY, 4, imitation.policy_of(middle), middle)
    learner = checkpoint.restore(folder, "learner", states[0])
    same(learner, states[2])
    for _ in range(2):
        learner = step(learner)[0]
    same(learner, states[4])


def test_the_policy_of_a_checkpoint_plays(saved, recipe, policy):
    same(load_agent(saved), make_agent(recipe, policy))
    blind = load_agent(saved, auxiliary=False, history=False)
    assert not blind.net.auxiliary
    assert not blind.history


def test_another_network_is_refused(saved, recipe):
    wider = dataclasses.replace(recipe, width=16)
    with pytest.raises(ValueError, match=r"policy: .*expected .*got .*another network"):
        checkpoint.restore(saved, "policy", blank_policy(wider))
    deeper = dataclasses.replace(recipe, depth=2)
    with pytest.raises(ValueError, match=r"got nothing: another network"):
        checkpoint.restore(saved, "policy", blank_policy(deeper))


def test_a_checkpoint_does_not_say_where_it_was_written(saved):
    files = [file for file in saved.rglob("*") if file.is_file()]
    assert len(files) > 3
    assert not [file for file in files if str(saved.parent).encode() in file.read_bytes()]


def test_a_run_of_another_suite_or_recipe_is_not_gone_on_with(suite, saved, recipe, tmp_path):
    shutil.copytree(saved, tmp_path / "run" / "checkpoints" / "000004")
    with pytest.raises(ValueError, match=r"--resume .*: suite: expected .*got tiny version 1 \(000000000000\)"):
        train(recipe, suite, tmp_path / "run", resume=True, progress=False)
    own = {"id": suite.info.id, "version": suite.info.version, "sha256": suite.info.sha256}
    meta = tmp_path / "run" / "checkpoints" / "000004" / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "suite": own}))
    with pytest.raises(ValueError, match=r"--resume .*: rate: expected 0\.5"):
        train(dataclasses.replace(recipe, rate=0.5), suite, tmp_path / "run", resume=True, progress=False)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".lock", "checkpoints"]


RESTORE = """
import sys
import jax
import numpy as np
from rotajax.train.policy import load_agent
assert len(jax.devices()) == 2
with jax.default_device(jax.devices()[1]):
    arrays = [leaf for leaf in jax.tree.leaves(load_agent(sys.argv[1])) if isinstance(leaf, jax.Array)]
print(len(arrays), sum(float(np.abs(np.asarray(a, np.float64)).sum()) for a in arrays))
"""


def test_a_checkpoint_of_one_device_is_restored_where_there_are_others(saved):
    arrays = [leaf for leaf in jax.tree.leaves(load_agent(saved)) if isinstance(leaf, jax.Array)]
    expected = sum(float(np.abs(np.asarray(a, np.float64)).sum()) for a in arrays)
    variables = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", RESTORE, str(saved)], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    count, total = done.stdout.split()
    assert int(count) == len(arrays)
    assert float(total) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("harm", ["meta", "array", "bytes", "format"])
def test_a_half_written_checkpoint_is_refused(saved, recipe, tmp_path, harm):
    copy = tmp_path / "copy"
    shutil.copytree(saved, copy)
    meta = json.loads((copy / "meta.json").read_text())
    if harm == "meta":
        (copy / "meta.json").write_text(json.dumps(meta)[:200])
    elif harm == "array":
        files = [f for f in (copy / "policy").rglob("*") if f.is_file() and f.stat().st_size > 1000]
        assert files
        for file in files:
            file.write_bytes(file.read_bytes()[:100])
    elif harm == "bytes":
        name = next(iter(meta["policy"]))
        meta["policy"][name][2] = "0" * 64
        (copy / "meta.json").write_text(json.dumps(meta))
    else:
        (copy / "meta.json").write_text(json.dumps({**meta, "format": "rotajax.checkpoint/9"}))
    with pytest.raises(ValueError, match="checkpoint"):
        load_agent(copy)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected a checkpoint, or a run's folder with one"):
        load_agent(tmp_path)
    with pytest.raises(ValueError, match="nothing at"):
        load_agent(tmp_path / "nowhere")


def test_a_shipped_checkpoint_plays_and_cannot_be_gone_on_with(saved, tmp_path, learner):
    small = ship(saved, tmp_path / "small")
    same(load_agent(small), load_agent(saved))
    size = sum(f.stat().st_size for f in small.rglob("*") if f.is_file())
    assert size < sum(f.stat().st_size for f in saved.rglob("*") if f.is_file())
    with pytest.raises(ValueError, match="learner: expected its arrays, got none"):
        checkpoint.restore(small, "learner", learner)


@pytest.mark.slow
def test_ppo_improves_nothing_in_two_updates_but_moves_and_repeats(world, lookup, recipe, imitated):
    asked = dataclasses.replace(recipe, kind="ppo", games=2, turns=4).check()
    policy = imitation.policy_of(imitated[1][-1])
    start = jax.jit(lambda world: ppo.start(asked, world, Params(), policy))
    step = step_of(ppo, asked, world, lookup)
    first = start(world)
    same(first.net["net"], policy["net"])
    after, metrics = step(first)
    assert np.abs(np.asarray(after.net["sharpness"] - first.net["sharpness"])) > 0
    assert all(np.isfinite(np.asarray(value)).all() for value in metrics.values())
    assert float(metrics["entropy"].max()) <= np.log(24) + 1e-4
    same(step(start(world))[0], after)


def test_metrics_are_cut_back_to_the_update_that_a_run_goes_on_from(tmp_path):
    path = tmp_path / "metrics.jsonl"
    line = {"states": 10, "pose_loss": 3.0, "ended": 2, "succeeded": 1}
    lines = [{"update": u, **line} for u in range(1, 7)]
    path.write_text("".join(json.dumps(x) + "\n" for x in lines) + '{"update": 7, "sta')
    Metrics(path, 4).append([{"update": 5, **line}])
    assert [x["update"] for x in read_metrics(path)] == [1, 2, 3, 4, 5]
    draw_metrics(read_metrics(path), tmp_path / "curve.png", title="a run")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
