"""How long does the analysis of a large run take, and the surface coverage of its episodes?"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.inputs import SEED, Inputs
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
TASKS, STEPS = 673, 20
BATCH = 200  # episodes written at a time
# Orders of symmetry, in turn: most icons have none (Appendix D).
ORDERS = (1, 1, 1, 1, 1, 2, 1, 4, 1, 12)


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return two works: the tables of a run of 10,000 episodes, and what 100 episodes have seen."""
    episodes, seen, tasks = (200, 2, 20) if quick else (10_000, 100, TASKS)
    tables = HERE + ours.__name__
    options = {"episodes": episodes, "tasks": tasks}
    return [
        Case(
            question="analysis",
            work=f"read a run of {episodes:,} episodes of {STEPS} rotations on {tasks} tasks, check that it replays, "
            "decompose every step, make every table with intervals of 10,000 resamples",
            unit="run",
            units=1,
            subjects=(
                Subject("rotajax.analysis", tables, options),
                Subject("rotajax.analysis, 2 cores", tables, options, cores=2),
            ),
            parity=_same,
        ),
        Case(
            question="coverage",
            work=f"surface seen over {STEPS} rotations, mesh and hierarchy made for each episode, {inputs.name}",
            unit="episode",
            units=seen,
            subjects=(Subject("rotajax.analysis.coverage", HERE + coverage.__name__, {"episodes": seen}),),
        ),
    ]


def ours(inputs: Inputs, episodes: int, tasks: int) -> Callable[[], dict]:
    """Return the run from the run's files to the numbers of Tables 1, 2, 9, 10, 12, 17, Figure 3 and K.3."""
    from rotajax import analysis
    from rotajax.analysis.replay import require_replays
    from rotajax.records import read_run

    groups = _groups(tasks)
    path = _write(inputs.folder / f"analysis-{episodes}", episodes, groups)

    def run() -> dict:
        found = analysis.attach(read_run(path), groups)
        require_replays(found.run, groups)
        (method,) = found.methods
        makers = (
            analysis.summary_row,
            analysis.angles,
            analysis.associations,
            analysis.outcomes,
            analysis.divergences,
        )
        rows = [make(method) for make in makers] + analysis.oracles(method)
        numbers = [value for row in rows for value in row.values() if isinstance(value, float)]
        ends = [end for row in rows for value in row.values() if isinstance(value, list) for end in value]
        return {"numbers": np.array(numbers), "ends": np.array(ends), "curve": analysis.iou_curve(method).mean}

    return run


def coverage(inputs: Inputs, episodes: int) -> Callable[[], np.ndarray]:
    """Return the run over episodes, of one solid after the other."""
    from rotajax.analysis.coverage import Surface
    from rotajax.geometry.mesh import surface

    solids = [inputs.solid(i) for i in range(inputs.count)]
    poses = inputs.poses(episodes * (STEPS + 1)).reshape(episodes, STEPS + 1, 3, 3)
    return lambda: np.stack(
        [Surface(surface(solids[i % len(solids)])).cumulative(seen)[-1] for i, seen in enumerate(poses)]
    )


def _groups(tasks: int) -> dict[str, np.ndarray]:
    from rotajax.geometry.symmetry import Symmetry, group

    return {f"task{i:03}": group(Symmetry(ORDERS[i % len(ORDERS)])) for i in range(tasks)}


def _write(path: Path, episodes: int, groups: dict[str, np.ndarray]) -> Path:
    """Write a run of random rotations; its IoUs are a smooth function of the pose error, not of pictures."""
    from benchmarks.inputs import draw_poses, draw_walks
    from rotajax.analysis.decomposition import errors_deg, target_quaternions
    from rotajax.geometry.quaternion import from_matrix
    from rotajax.records import OUTCOMES, EpisodeKey, open_run
    from rotajax.records.lines import decision_line, episode_line, shortest

    if path.exists():
        return path
    names, starts = list(groups), draw_poses(episodes)
    actions, walked = draw_walks(starts, STEPS)
    poses = np.concatenate([starts[:, None], walked], axis=1)
    asked = {"kind": "benchmark", "suite": {"id": "none", "version": 1, "sha256": "0" * 64}, "seed": SEED}
    with open_run(path, asked, device="none") as writer:
        for first in range(0, episodes, BATCH):
            lines: list[dict] = []
            for e in range(first, min(first + BATCH, episodes)):
                key = EpisodeKey(names[e % len(names)], "walk", e // len(names))
                error = errors_deg(from_matrix(poses[e].astype(np.float64)), target_quaternions(groups[key.task]))
                iou, error, pose = shortest(0.8 / (1 + error / 90)), shortest(error), shortest(poses[e].reshape(-1, 9))
                for t in range(STEPS):
                    pairs = (iou[t], iou[t + 1]), (error[t], error[t + 1])
                    lines.append(decision_line(key, t, int(actions[e, t]), *pairs, pose[t]))
                lines.append(episode_line(key, OUTCOMES.index("stagnation"), STEPS, iou[-1], error[-1], pose[-1]))
            writer.append(lines)
    return path


def _same(results: Results) -> None:
    first, *others = results.values()
    for other in others:
        if any(not np.allclose(first[name], other[name], rtol=1e-9, atol=1e-9) for name in first):
            raise ParityError("analysis: expected the same numbers on one and on two cores")
