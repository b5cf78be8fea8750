"""`train`: a whole run into a folder: checkpoints, metrics, a curve; a killed one goes on to the same next update."""

import dataclasses
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from rotajax.checks import require
from rotajax.env.state import Params
from rotajax.files import take
from rotajax.records.asked import suite_identity
from rotajax.tasks.suite import Suite
from rotajax.train import checkpoint, imitation, ppo
from rotajax.train.belief import tables
from rotajax.train.guard import require_no_test_icons
from rotajax.train.learner import Learner
from rotajax.train.metrics import Metrics, draw_metrics, read_metrics
from rotajax.train.policy import blank_policy
from rotajax.train.recipe import Recipe
from rotajax.train.world import make_world

KINDS: dict[str, ModuleType] = {"imitation": imitation, "ppo": ppo}
# Updates between two checkpoints.
SAVE_EVERY = 20


def train(
    recipe: Recipe,
    suite: Suite,
    out: str | Path,
    *,
    resume: bool = False,
    begin_from: str | Path | None = None,
    progress: bool = True,
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> Path:
    """Train by a recipe on the icons of a suite and return the last checkpoint's folder.

    `begin_from`: a checkpoint whose weights the run begins with. Writes checkpoints/, metrics.jsonl, curve.png. Raises
    ValueError where the suite has test icons, the folder holds a run and `resume` is not asked for, and where what is
    resumed is another recipe's or suite's.
    """
    recipe.check()
    require_no_test_icons(suite.info)
    out = Path(out)
    there = (out / "checkpoints").is_dir() and any((out / "checkpoints").glob("[0-9]*"))
    require(resume or not there, "train: --out", "a new folder, or --resume", f"a run in '{out}'")
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        take(lock.fileno(), f"train: '{out}'")
        return _run(recipe, suite, out, there, begin_from, progress, say)


def _run(
    recipe: Recipe,
    suite: Suite,
    out: Path,
    there: bool,
    begin_from: str | Path | None,
    progress: bool,
    say: Callable[[str], None],
) -> Path:
    kind, params = KINDS[recipe.kind], Params()
    identity = suite_identity(suite)
    policy = _weights(begin_from, recipe) if begin_from else None
    found = checkpoint.find(out) if there else None
    if found:
        _require_same(found, recipe, identity)
    world = jax.device_put(make_world(suite, progress=progress))
    lookup = jax.device_put(tables())
    learner = jax.jit(lambda world, policy: kind.start(recipe, world, params, policy))(world, policy)
    if found:
        learner = checkpoint.restore(found, "learner", learner)
        say(f"train: goes on from update {int(learner.update)} of '{found}'")
    update = kind.make_update(recipe, params)

    def loop(learner: Learner, world: Any, lookup: Any) -> tuple[Learner, dict]:
        return jax.lax.scan(lambda now, _: update(now, world, lookup), learner, None, length=recipe.loop)

    step = jax.jit(loop, donate_argnums=0)
    folder, done = out / "checkpoints", int(learner.update)
    checkpoint.prune(folder)
    metrics = Metrics(out / "metrics.jsonl", done)
    saved = found
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, about {remaining} left"
    often = 0.5 if sys.stderr.isatty() else 30.0
    options = {"bar_format": shape, "file": sys.stderr, "disable": not progress, "mininterval": often}
    with tqdm(total=recipe.updates, initial=done, **options) as bar:
        while done < recipe.updates:
            started = time.perf_counter()
            learner, found_metrics = step(learner, world, lookup)
            lines = _lines(jax.device_get(found_metrics), done, recipe, time.perf_counter() - started)
            metrics.append(lines)
            done += recipe.loop
            name = "pose_loss" if "pose_loss" in lines[-1] else "reward"
            bar.set_description(f"{recipe.kind} update {done}, {name} {lines[-1][name]:.3f}", refresh=False)
            bar.update(recipe.loop)
            if done == recipe.updates or done // SAVE_EVERY > (done - recipe.loop) // SAVE_EVERY:
                host = jax.device_get(learner)
                saved = checkpoint.save(folder / f"{done:06d}", recipe, identity, done, kind.policy_of(host), host)
                checkpoint.prune(folder)
                title = f"{recipe.kind} on {identity['id']}, {len(suite)} icons, seed {recipe.seed}"
                draw_metrics(read_metrics(metrics.path), out / "curve.png", title=title)
    assert saved is not None
    return saved


def ship(run: str | Path, out: str | Path) -> Path:
    """Write what plays of a run's newest checkpoint, without what a run goes on from, as a folder of its own."""
    found, out = checkpoint.find(run), Path(out)
    require(not out.exists(), "train: ship", "a new folder", f"something at '{out}'")
    recipe, meta = checkpoint.read_recipe(found), checkpoint.read_meta(found)
    policy = checkpoint.restore(found, "policy", blank_policy(recipe))
    return checkpoint.save(out, recipe, meta["suite"], meta["update"], policy, None)


def _weights(folder: str | Path, recipe: Recipe) -> dict:
    found = checkpoint.find(folder, "train: --from")
    return checkpoint.restore(found, "policy", blank_policy(recipe))


def _require_same(found: Path, recipe: Recipe, identity: dict) -> None:
    meta = checkpoint.read_meta(found)
    name = f"train: --resume '{found}'"
    require(meta["suite"] == identity, f"{name}: suite", _short(identity), _short(meta["suite"]))
    was = checkpoint.read_recipe(found)
    for field in dataclasses.fields(recipe):
        mine, other = getattr(recipe, field.name), getattr(was, field.name)
        require(mine == other, f"{name}: {field.name}", repr(mine), f"{other!r} in the checkpoint")


def _short(identity: dict) -> str:
    return f"{identity.get('id')} version {identity.get('version')} ({str(identity.get('sha256'))[:12]})"


def _lines(metrics: dict, done: int, recipe: Recipe, seconds: float) -> list[dict]:
    lines = []
    for row in range(recipe.loop):
        values = {name: round(np.asarray(value)[row].item(), 6) for name, value in metrics.items()}
        update = done + row + 1
        each = {"update": update, "states": update * recipe.states, "seconds": round(seconds / recipe.loop, 3)}
        lines.append({**each, **values})
    return lines
