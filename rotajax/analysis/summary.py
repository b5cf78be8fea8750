"""`summarise`: the rows of summary.json, one a policy (Tables 1 and 9; section 3.4)."""

from collections.abc import Mapping

import numpy as np

from rotajax.analysis.intervals import Interval, bootstrap_counts, task_bootstrap, wilson
from rotajax.analysis.load import Analysis, attach
from rotajax.analysis.method import Method
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


def summarise(run: Run | Analysis, suite: dict, groups: Mapping[str, np.ndarray] | None = None) -> dict:
    """Return summary.json of a run.

    suite: what identifies the suite (id, version, sha256); groups: the symmetries [G, 3, 3] of every task by its id,
    for a run that is not yet an `Analysis`. Task metrics average the episodes of a task first, then the tasks; action
    rates pool all executed rotations, angle metrics those of effective directions; changes a step are those of whole
    trajectories over all steps. A metric without anything to average is null. Raises ValueError for an empty run, or a
    task without a group.
    """
    analysis = run if isinstance(run, Analysis) else attach(run, groups or {})
    return {"format": FORMAT, "suite": suite, "rows": [summary_row(method) for method in analysis.methods]}


def summary_row(method: Method, coverage: np.ndarray | None = None) -> dict:
    """Return the row of a method. coverage: percent of the surface seen, [E], an episode each, where measured."""
    sums = task_sums(method, coverage)
    counts = bootstrap_counts(len(method.tasks))
    episodes, tasks = len(method.episodes), len(method.tasks)
    seeds = len(np.unique(method.episodes.seed))
    row: dict = {"policy": method.name, "episodes": episodes, "tasks": tasks, "seeds": seeds}
    intervals: dict = {}
    for name in METRICS:
        if name not in sums:
            row[name], interval = None, Interval(None, "not measured")
        else:
            above, below = sums[name]
            row[name] = float(above.sum() / below.sum()) if below.sum() > 0 else None
            interval = task_bootstrap(above, below, counts)
        if name == "success_pct" and episodes == tasks:
            interval = wilson(int((method.episodes.outcome == OUTCOMES.index("success")).sum()), tasks)
        intervals |= interval.fields(name)
    return row | intervals


def task_sums(method: Method, coverage: np.ndarray | None = None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return numerator and denominator of every metric, [T] each: all that a bootstrap over tasks needs."""
    episodes, steps, effective = method.episodes, method.steps, method.steps.effective
    sums = {
        "success_pct": method.mean_of_tasks(100.0 * (episodes.outcome == OUTCOMES.index("success"))),
        "final_iou": method.mean_of_tasks(episodes.final_iou),
        "steps": method.mean_of_tasks(episodes.steps),
        "effective_direction_pct": method.per_task(100.0 * effective),
        "best_legal_angle_pct": method.per_task(100.0 * steps.best_legal, effective),
        "angle_gap_deg": method.per_task(steps.angle_gap, effective),
        "angle_loss_deg": method.per_task(steps.angle_loss, effective),
        "final_pose_error_deg": method.mean_of_tasks(episodes.final_pose_error),
        "pose_improving_pct": method.per_task(100.0 * steps.improving),
        "iou_change_per_step": method.per_task(steps.iou_after - steps.iou_before),
        "pose_reduction_per_step_deg": method.per_task(steps.pose_error_before - steps.pose_error_after),
    }
    if coverage is not None:
        sums["coverage_pct"] = method.mean_of_tasks(coverage)
    return sums
