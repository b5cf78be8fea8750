"""`run_baselines`: the ground-truth policies on a suite, recorded as they go; a killed run goes on where it was."""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import jax
import numpy as np
from tqdm import tqdm

from rotajax.analysis.load import attach
from rotajax.analysis.summary import summarise
from rotajax.checks import require, require_at_least, require_member
from rotajax.env.rollout import Episodes, rollout
from rotajax.env.state import Params
from rotajax.files import write_atomically
from rotajax.policies.baseline import POLICIES, RANDOM_POLICIES
from rotajax.processes import agree, is_leader
from rotajax.records import LAST_SEED, EpisodeKey, RunWriter, episode_lines, open_run, read_run
from rotajax.records.asked import device_names, rule_numbers, suite_identity
from rotajax.reports.curve import draw_curves
from rotajax.tasks.suite import Suite
from rotajax.tasks.task import Task, with_skeletons

# What a trained policy's name begins with; the folder of its checkpoint follows.
TRAINED = "checkpoint:"
# Tasks a device plays between two writes: a few seconds on a CPU core, enough to fill an accelerator.
_CHUNK = {"cpu": 8}
_CHUNK_ACCELERATOR = 64
# Silhouettes an episode is expected to draw: what the estimate of the time left is weighted by.
_PICTURES = {"uniform_random": 23, "random_rollback": 37, "iou_greedy": 420, "pose_greedy": 10}
_PICTURES_TRAINED = 120  # auxiliary views too, which take longer
Player = Callable[[Task, Params], Episodes]


@dataclasses.dataclass(frozen=True)
class _Part:
    """The episodes of one policy and seed that are still to be played, as rows of the suite."""

    policy: str
    seed: int
    tasks: np.ndarray


def run_baselines(
    suite: Suite,
    policies: Sequence[str],
    seeds: int,
    out: str | Path,
    *,
    seed: int = 0,
    params: Params | None = None,
    chunk: int | None = None,
    progress: bool = True,
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> dict:
    """Play baselines into a run folder and return its summary; a folder of the same request goes on where it was.

    policies: names of POLICIES; seeds: how many, from `seed` on, for the random ones, the others play once; chunk:
    tasks between two writes (default: from the devices), which changes no result. Writes run.json, episodes.jsonl,
    summary.json and iou_steps.png. Raises ValueError for an unknown policy, fewer than one seed, and a folder of
    another run.
    """
    for name in policies:
        if not name.startswith(TRAINED):
            require_member(name, (*POLICIES, f"{TRAINED}DIR"), "baselines: policy")
    policies = list(dict.fromkeys(policies))
    require_at_least(len(policies), 1, "baselines: number of policies")
    require_at_least(seeds, 1, "baselines: --seeds")
    require_at_least(seed, 0, "baselines: --seed")
    require(seed + seeds - 1 <= LAST_SEED, "baselines: the last seed", f"at most {LAST_SEED}", seed + seeds - 1)
    params = params or Params()
    asked = {
        "kind": "baselines",
        "suite": suite_identity(suite),
        "policies": policies,
        "seeds": list(range(seed, seed + seeds)),
        "tasks": len(suite),
        "params": rule_numbers(params),
    }
    trained = {name: _trained(name.removeprefix(TRAINED)) for name in policies if name.startswith(TRAINED)}
    if trained:  # a folder that has been trained on since is another player
        asked["checkpoints"] = {name: who for name, (_, who) in trained.items()}
    if "iou_greedy" in policies:
        suite = dataclasses.replace(suite, tasks=with_skeletons(suite.tasks))
    # With several processes all play, each on its own devices, and the first one alone has the folder open.
    with open_run(out, asked, device=device_names()) if is_leader() else nullcontext() as writer:
        for note in writer.notes if writer else ():
            say(note)
        done = {EpisodeKey(*key) for key in agree(sorted(writer.done) if writer else None)}
        parts = list(_parts(suite, policies, asked["seeds"], done))
        players = {name: player for name, (player, _) in trained.items()}
        _play(suite, parts, params, writer, players, chunk=chunk, progress=progress and is_leader())
    return agree(_report(suite, Path(out)) if is_leader() else None)


def _trained(folder: str) -> tuple[Player, dict]:
    """Return the player of a checkpoint's folder, and what identifies it. Needs the extra `train`."""
    from rotajax.train.extra import require_extra

    require_extra("equinox", "optax", "orbax.checkpoint")
    from rotajax.train.play import play
    from rotajax.train.policy import identity, load_agent

    agent = load_agent(folder)
    return lambda tasks, params: play(agent, tasks, params), identity(folder)


def _parts(suite: Suite, policies: list[str], seeds: list[int], done: set[EpisodeKey]) -> Iterator[_Part]:
    for policy in policies:
        for seed in seeds if policy in RANDOM_POLICIES else seeds[:1]:
            left = [i for i, task in enumerate(suite.ids) if EpisodeKey(task, policy, seed) not in done]
            yield _Part(policy, seed, np.array(left, np.int64))


def _play(
    suite: Suite,
    parts: list[_Part],
    params: Params,
    writer: RunWriter | None,
    players: dict[str, Player],
    *,
    chunk: int | None,
    progress: bool,
) -> None:
    """Play what is left, a chunk of tasks at a time; every chunk has the same shape, so that nothing compiles twice."""
    chunk = chunk or chunk_size(len(suite), len(jax.devices()), jax.devices()[0].platform)
    total = sum(len(suite) * _PICTURES.get(part.policy, _PICTURES_TRAINED) for part in parts)
    left = sum(len(part.tasks) * _PICTURES.get(part.policy, _PICTURES_TRAINED) for part in parts)
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, about {remaining} left"
    often = 0.5 if sys.stderr.isatty() else 10.0
    options = {"bar_format": shape, "file": sys.stderr, "disable": not progress or left == 0, "mininterval": often}
    with tqdm(total=total, initial=total - left, **options) as bar:
        for part in parts:
            key = jax.random.key(part.seed)
            for start in range(0, len(part.tasks), chunk):
                rows = part.tasks[start : start + chunk]
                at = f"{len(suite) - len(part.tasks) + start}/{len(suite)}"
                bar.set_description(f"{part.policy}, seed {part.seed}: {at}", refresh=False)
                tasks = _filled(suite, rows, chunk)
                if part.policy in players:
                    episodes = players[part.policy](tasks, params)
                else:
                    episodes = rollout(POLICIES[part.policy], tasks, key, params)
                ids = [suite.ids[row] for row in rows]
                if writer:
                    writer.append(episode_lines(episodes, ids, policy=part.policy, seed=part.seed))
                bar.update(len(rows) * _PICTURES.get(part.policy, _PICTURES_TRAINED))


def chunk_size(tasks: int, devices: int, platform: str) -> int:
    """Return how many tasks to play at a time: a multiple of the devices that leaves the least of the last chunk empty.

    >>> chunk_size(100, 2, "cpu"), chunk_size(24, 2, "cpu")
    (10, 12)
    """
    most = min(_CHUNK.get(platform, _CHUNK_ACCELERATOR), -(-tasks // devices))
    sizes = [each * devices for each in range(max(1, most // 2), most + 1)]
    return min(sizes, key=lambda size: (-(-tasks // size) * size, -size))


def _filled(suite: Suite, rows: np.ndarray, chunk: int) -> Task:
    """Return a chunk of tasks, filled up with copies of the last that start at the target and so end at once."""
    index = np.concatenate([rows, np.repeat(rows[-1:], chunk - len(rows))])
    tasks: Task = jax.tree.map(lambda leaf: np.asarray(leaf)[index], suite.tasks)
    start = np.array(tasks.start)
    start[len(rows) :] = np.eye(3, dtype=np.float32)
    return dataclasses.replace(tasks, start=start)


def _report(suite: Suite, out: Path) -> dict:
    """Write and return the summary of a finished run, from its records; draw its curves."""
    run = read_run(out)
    groups = dict(zip(suite.ids, np.asarray(suite.tasks.group), strict=True))
    analysis = attach(run, groups)
    summary = summarise(analysis, suite_identity(suite))
    write_atomically(out / "summary.json", json.dumps(summary, indent=1, allow_nan=False) + "\n")
    title = f"Suite {suite.info.id}, {len(run.tasks)} tasks"
    draw_curves(analysis.methods, out / "iou_steps.png", title=title)
    return summary
