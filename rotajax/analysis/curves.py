"""`iou_curve`: mean IoU against executed rotations, the final IoU kept to rotation 48 (Figure 3)."""

import dataclasses

import numpy as np

from rotajax.analysis.intervals import Interval, bootstrap_counts, mean_bootstrap
from rotajax.analysis.method import Method
from rotajax.env.rollout import HORIZON


@dataclasses.dataclass(frozen=True)
class Curve:
    """Mean IoU after 0 to 48 rotations, each with its 95 % interval over tasks or the reason why it has none."""

    mean: np.ndarray  # float64 [49]
    intervals: tuple[Interval, ...]  # 49


def iou_curve(method: Method) -> Curve:
    """Return the curve of a method; the episodes of a task are averaged first, then the tasks."""
    episodes, steps, tasks = method.episodes, method.steps, len(method.tasks)
    iou = np.repeat(episodes.final_iou[:, None].astype(np.float64), HORIZON + 1, axis=1)
    iou[steps.episode, steps.t] = steps.iou_before
    of_tasks = np.zeros((tasks, HORIZON + 1))
    np.add.at(of_tasks, episodes.task, iou)
    of_tasks /= np.bincount(episodes.task, minlength=tasks)[:, None]
    return Curve(of_tasks.mean(axis=0), mean_bootstrap(of_tasks, bootstrap_counts(tasks)))
