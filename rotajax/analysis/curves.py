"""`iou_curve`: mean IoU against executed rotations, the final IoU kept to rotation 48 (Figure 3)."""

import dataclasses

import numpy as np

from rotajax.analysis.intervals import bootstrap_counts
from rotajax.analysis.method import Method
from rotajax.env.rollout import HORIZON


@dataclasses.dataclass(frozen=True)
class Curve:
    """Mean IoU after 0 to 48 rotations, and its pointwise 95 % interval over tasks, or the reason why there is none."""

    mean: np.ndarray  # float64 [49]
    low: np.ndarray | None  # float64 [49]
    high: np.ndarray | None
    reason: str | None = None


def iou_curve(method: Method) -> Curve:
    """Return the curve of a method; the episodes of a task are averaged first, then the tasks."""
    tasks = task_curves(method)
    mean = tasks.mean(axis=0)
    if len(tasks) == 1:
        return Curve(mean, None, None, "a single task")
    if np.ptp(tasks, axis=0).max() == 0:
        return Curve(mean, None, None, "no variation between tasks")
    resampled = bootstrap_counts(len(tasks)) @ tasks / len(tasks)
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return Curve(mean, low, high)


def task_curves(method: Method) -> np.ndarray:
    """Return the curve of every task, float64 [T, 49]."""
    episodes, steps = method.episodes, method.steps
    iou = np.repeat(episodes.final_iou[:, None].astype(np.float64), HORIZON + 1, axis=1)
    iou[steps.episode, steps.t] = steps.iou_before
    sums = np.zeros((len(method.tasks), HORIZON + 1))
    np.add.at(sums, episodes.task, iou)
    return sums / np.bincount(episodes.task, minlength=len(method.tasks))[:, None]
