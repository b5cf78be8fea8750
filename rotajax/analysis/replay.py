"""`replay_faults`: what in a run file does not follow from what stands before it; such a file is not to be trusted."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rotajax.analysis.decomposition import errors_deg
from rotajax.analysis.fields import episode_field
from rotajax.checks import require
from rotajax.env.actions import STOP
from rotajax.geometry.quaternion import from_matrix
from rotajax.geometry.rotation import MATRICES
from rotajax.records import OUTCOMES, Run
from rotajax.tasks.starts import SUCCESS_IOU

# One float32 product rounds an entry by up to 2e-7; a file may keep six decimals of each, 5e-7 twice. An entry of an
# honest file is within this; it is a ten thousandth of a degree, the distance below which Appendix K.6 matches poses.
POSE_TOLERANCE = 2e-6
# Degrees. A float32 error is up to 2e-5 off (see `decomposition`); an arccosine of a clipped trace, 1e-2 near 0.
ERROR_TOLERANCE_DEG = 2e-2
# What stands twice in the file, after a decision and before the next: differences that Appendix K.3 calls neutral.
SAME = {"iou": 1e-6, "pose_error": 1e-4}


class Fault(NamedTuple):
    """One number that does not follow."""

    episode: int  # row of the run's episodes
    t: int  # the decision
    what: str
    expected: str
    got: str


def require_replays(run: Run, groups: Mapping[str, np.ndarray], starts: Mapping[str, np.ndarray] | None = None) -> None:
    """Raise ValueError that names the first fault of a run and counts the rest; see `replay_faults`."""
    faults = list(replay_faults(run, groups, starts))
    if faults:
        first, episodes = faults[0], run.episodes
        task, policy = run.tasks[episodes.task[first.episode]], run.policies[episodes.policy[first.episode]]
        where = f"run '{run.path}': {policy} on {task}, seed {episodes.seed[first.episode]}, t = {first.t}"
        rest = f" ({len(faults)} faults: the file is not to be trusted)"
        require(False, f"{where}: {first.what}", first.expected, first.got + rest)


def replay_faults(
    run: Run, groups: Mapping[str, np.ndarray], starts: Mapping[str, np.ndarray] | None = None
) -> Iterator[Fault]:
    """Yield every number of a run that does not follow from the ones before it.

    groups: the symmetries [G, 3, 3] of every task; starts: the pose [3, 3] it starts from, where known. Checked: each
    pose is its action's product with the pose before it, the first the task's start, the last (where recorded) that of
    the last action; pose errors are those of the poses; IoUs and errors after a decision are those before the next
    and at the end; IoUs lie in [0, 1]; STOP is a last decision and the outcome `stop` of no other; an episode is a
    success where its final IoU reaches the threshold, and only there.
    """
    decisions, episodes = run.decisions, run.episodes
    yield from _successes(run)
    if len(decisions) == 0:
        return
    after = poses_after(run)
    last = np.append(decisions.episode[1:] != decisions.episode[:-1], True)
    where = np.flatnonzero(~last)

    gap = np.zeros(len(decisions))
    gap[where + 1] = np.abs(decisions.rotation[where + 1].astype(np.float64) - after[where]).max(axis=(1, 2))
    yield from _report(run, gap, POSE_TOLERANCE, "pose", "the one that the decision before leads to")
    if starts is not None:
        first = np.flatnonzero(decisions.t == 0)
        start = np.stack([starts[task] for task in run.tasks])[episodes.task[decisions.episode[first]]]
        gap = np.zeros(len(decisions))
        gap[first] = np.abs(decisions.rotation[first].astype(np.float64) - start).max(axis=(1, 2))
        yield from _report(run, gap, POSE_TOLERANCE, "pose", "the start of the task")
    yield from _final_poses(run, after, last)
    yield from _errors(run, after, groups)
    for name, tolerance in SAME.items():
        before, ended = (getattr(decisions, f"{name}_{side}").astype(np.float64) for side in ("before", "after"))
        following = np.append(before[1:], 0.0)
        following[last] = getattr(episodes, f"final_{name}")[decisions.episode[last]]
        yield from _report(run, np.abs(ended - following), tolerance, f"{name}_after", "that of the state it leads to")
    iou = np.stack([decisions.iou_before, decisions.iou_after]).astype(np.float64)
    yield from _report(run, (np.abs(iou - 0.5) - 0.5).max(axis=0), SAME["iou"], "IoU", "0 to 1")
    stopped = decisions.action == STOP
    stop = (episodes.outcome == OUTCOMES.index("stop"))[decisions.episode]
    wrong = (stopped & ~last) | (last & stop & ~stopped)
    yield from _report(
        run, wrong.astype(np.float64), 0.5, "STOP", "the last decision, and the end of a stop", got="another"
    )


def _report(
    run: Run, gap: np.ndarray, tolerance: float, what: str, expected: str, *, got: str = "one off by {:.2g}"
) -> Iterator[Fault]:
    """Yield a fault for every decision whose gap, [N], is not within the tolerance."""
    for row in np.flatnonzero(~(gap <= tolerance)):
        yield Fault(int(run.decisions.episode[row]), int(run.decisions.t[row]), what, expected, got.format(gap[row]))


def _successes(run: Run) -> Iterator[Fault]:
    """Compare the outcome of every episode that did not fail for other reasons with its final IoU."""
    threshold = (run.meta["asked"].get("params") or {}).get("success_iou", SUCCESS_IOU)
    reached = run.episodes.final_iou >= np.float32(threshold)
    says = run.episodes.outcome == OUTCOMES.index("success")
    failed = run.episodes.outcome == OUTCOMES.index("error")
    for row in np.flatnonzero((reached != says) & ~failed):
        expected = "success" if reached[row] else f"no success below an IoU of {threshold:g}"
        got = OUTCOMES[run.episodes.outcome[row]]
        yield Fault(int(row), int(run.episodes.decisions[row]) - 1, "outcome", expected, got)


def poses_after(run: Run) -> np.ndarray:
    """Return the pose that each decision leads to from the recorded one, float64 [N, 3, 3]."""
    turns = np.concatenate([MATRICES, np.eye(3, dtype=np.float32)[None]]).astype(np.float64)
    return np.einsum("nij,njk->nik", turns[run.decisions.action], run.decisions.rotation.astype(np.float64))


def _final_poses(run: Run, after: np.ndarray, last: np.ndarray) -> Iterator[Fault]:
    recorded = episode_field(run, "final_rotation")
    gap = np.zeros(len(after))
    for row in np.flatnonzero(last):
        value = recorded[run.decisions.episode[row]]
        if value is not None:
            gap[row] = np.abs(np.reshape(value, (3, 3)) - after[row]).max()
    yield from _report(run, gap, POSE_TOLERANCE, "final_rotation", "the one that the last decision leads to")


def _errors(run: Run, after: np.ndarray, groups: Mapping[str, np.ndarray]) -> Iterator[Fault]:
    """Compare the recorded pose errors with those of the poses before and after each decision."""
    decisions = run.decisions
    task = run.episodes.task[decisions.episode]
    found = np.empty((2, len(decisions)))
    for index, name in enumerate(run.tasks):
        rows = np.flatnonzero(task == index)
        poses = np.stack([decisions.rotation[rows].astype(np.float64), after[rows]])
        found[:, rows] = errors_deg(from_matrix(poses), from_matrix(groups[name]))
    for side, error in zip(("before", "after"), found, strict=True):
        recorded = getattr(decisions, f"pose_error_{side}").astype(np.float64)
        gap = np.abs(recorded - error)
        yield from _report(run, gap, ERROR_TOLERANCE_DEG, f"pose_error_{side}", "the error of the pose")
