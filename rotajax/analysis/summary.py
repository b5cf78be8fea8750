"""`summarise`: the rows of summary.json, one a policy (Tables 1 and 9; section 3.4)."""

import numpy as np

from rotajax.analysis.decomposition import decompose
from rotajax.analysis.intervals import Interval, bootstrap_counts, task_bootstrap, wilson
from rotajax.checks import require
from rotajax.env.actions import ROTATIONS
from rotajax.records import OUTCOMES, Run

FORMAT = "rotajax.summary/1"
# In the order of the paper's tables.
METRICS = (
    "success_pct",
    "final_iou",
    "steps",
    "coverage_pct",
    "effective_direction_pct",
    "best_legal_angle_pct",
    "angle_gap_deg",
    "angle_loss_deg",
    "final_pose_error_deg",
    "pose_improving_pct",
    "iou_change_per_step",
    "pose_reduction_per_step_deg",
)


def summarise(run: Run, suite: dict, groups: dict[str, np.ndarray]) -> dict:
    """Return summary.json of a run.

    suite: what identifies the suite (id, version, sha256); groups: the symmetries [G, 3, 3] of every task by its id.
    Task metrics average the episodes of a task first, then the tasks; action rates pool all executed rotations, angle
    metrics those of effective directions; changes a step are those of whole trajectories over all steps. A metric
    without anything to average is null. Raises ValueError for an empty run, or a task without a group.
    """
    require(len(run.episodes) > 0, f"run '{run.path}'", "at least one finished episode", "none")
    missing = [task for task in run.tasks if task not in groups]
    require(not missing, f"run '{run.path}': tasks", "tasks of the suite", missing[:1])
    stacked = np.stack([groups[task] for task in run.tasks])
    rows = [_row(run, index, stacked) for index in range(len(run.policies))]
    return {"format": FORMAT, "suite": suite, "rows": rows}


def _row(run: Run, policy: int, groups: np.ndarray) -> dict:
    chosen = run.episodes.policy == policy
    tasks = np.unique(run.episodes.task[chosen])
    sums = _task_sums(run, policy, groups, tasks)
    counts = bootstrap_counts(len(tasks))
    seeds = len(np.unique(run.episodes.seed[chosen]))
    row: dict = {"policy": run.policies[policy], "episodes": int(chosen.sum()), "tasks": len(tasks), "seeds": seeds}
    intervals: dict = {}
    for name in METRICS:
        if name not in sums:
            row[name], interval = None, Interval(None, "not measured")
        else:
            above, below = sums[name]
            row[name] = float(above.sum() / below.sum()) if below.sum() > 0 else None
            interval = task_bootstrap(above, below, counts)
        if name == "success_pct" and chosen.sum() == len(tasks):
            interval = wilson(int((run.episodes.outcome[chosen] == OUTCOMES.index("success")).sum()), len(tasks))
        intervals[f"{name}_ci95"] = interval.ends
        if interval.reason is not None:
            intervals[f"{name}_ci95_reason"] = interval.reason
    return row | intervals


def _task_sums(run: Run, policy: int, groups: np.ndarray, tasks: np.ndarray) -> dict[str, tuple]:
    """Return numerator and denominator of every metric, a task each: all that a bootstrap over tasks needs."""
    episodes, decisions = run.episodes, run.decisions
    chosen = np.flatnonzero(episodes.policy == policy)
    at = np.searchsorted(tasks, episodes.task[chosen])
    played = np.bincount(at, minlength=len(tasks)).astype(np.float64)

    def mean_of_tasks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = np.bincount(at, weights=values[chosen].astype(np.float64), minlength=len(tasks))
        return sums / played, np.ones(len(tasks))

    executed = (episodes.policy[decisions.episode] == policy) & (decisions.action < ROTATIONS)
    task = episodes.task[decisions.episode[executed]]
    split = decompose(decisions.rotation[executed], decisions.action[executed], task, groups)
    row_of = np.searchsorted(tasks, task)

    def pooled(values: np.ndarray, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        rows, values = (row_of, values) if among is None else (row_of[among], values[among])
        sums = np.bincount(rows, weights=values.astype(np.float64), minlength=len(tasks))
        return sums, np.bincount(rows, minlength=len(tasks)).astype(np.float64)

    effective = split.effective
    iou_change = decisions.iou_after[executed].astype(np.float64) - decisions.iou_before[executed]
    reduction = decisions.pose_error_before[executed].astype(np.float64) - decisions.pose_error_after[executed]
    return {
        "success_pct": mean_of_tasks(100.0 * (episodes.outcome == OUTCOMES.index("success"))),
        "final_iou": mean_of_tasks(episodes.final_iou),
        "steps": mean_of_tasks(episodes.steps),
        "effective_direction_pct": pooled(100.0 * effective),
        "best_legal_angle_pct": pooled(100.0 * split.best_legal, effective),
        "angle_gap_deg": pooled(split.angle_gap, effective),
        "angle_loss_deg": pooled(split.angle_loss, effective),
        "final_pose_error_deg": mean_of_tasks(episodes.final_pose_error),
        "pose_improving_pct": pooled(100.0 * split.improving),
        "iou_change_per_step": pooled(iou_change),
        "pose_reduction_per_step_deg": pooled(reduction),
    }
