"""`associations`: chosen angle against IoU and pose error before the action (Figure 4, Table 10, Equation 14)."""

import numpy as np

from rotajax.analysis.intervals import Interval, bootstrap_counts, percentiles
from rotajax.analysis.method import Method
from rotajax.analysis.spearman import spearman

# Decimals kept: the same state reached on different ways differs by float32 noise, which must not rank (K.3's zones).
_DECIMALS = {"iou_angle": 6, "pose_angle": 4}


def associations(method: Method) -> dict:
    """Return the row of a method: both rank correlations, their absolute values and the difference of these.

    `iou_angle_rho` and `pose_angle_rho` are Spearman's, over all rotations; `_abs` and its interval are Figure 4's, an
    interval across zero starting at zero; `difference` is |rho of IoU| - |rho of pose error| (Equation 14), positive
    where angles go with the overlap. Intervals are of 10,000 resamples of whole tasks, the same for all of them. A
    correlation with a constant column is null, with the reason beside it.
    """
    steps, tasks = method.steps, len(method.tasks)
    row: dict = {"policy": method.name, "rotations": len(steps), "tasks": tasks}
    counts = np.concatenate([np.ones((1, tasks)), bootstrap_counts(tasks)])  # the data themselves first
    columns = {"iou_angle": steps.iou_before, "pose_angle": steps.error_before}
    columns = {name: np.round(column, _DECIMALS[name]) for name, column in columns.items()}
    reason = {name: _no_answer(method, column) for name, column in columns.items()}
    empty = np.full(len(counts), np.nan)
    found = {
        name: spearman(steps.angle, column, steps.task, counts) if len(steps) else empty
        for name, column in columns.items()
    }
    for name, rho in found.items():
        interval = _interval(rho, reason[name])
        row |= {f"{name}_rho": _number(rho[0])} | interval.fields(f"{name}_rho")
        row |= {f"{name}_abs": _number(abs(rho[0]))} | absolute(interval).fields(f"{name}_abs")
    difference = np.abs(found["iou_angle"]) - np.abs(found["pose_angle"])
    interval = _interval(difference, reason["iou_angle"] or reason["pose_angle"])
    return row | {"difference": _number(difference[0])} | interval.fields("difference")


def absolute(interval: Interval) -> Interval:
    """Return an interval of a number as one of its absolute value; across zero it starts at zero (Figure 4).

    >>> absolute(Interval([-0.3, 0.1])).ends
    [0.0, 0.3]
    """
    if interval.ends is None:
        return interval
    low, high = interval.ends
    ends = sorted([abs(low), abs(high)])
    return Interval([0.0, ends[1]] if low <= 0.0 <= high else ends, interval.reason)


def _interval(samples: np.ndarray, reason: str | None) -> Interval:
    return percentiles(samples[1:]) if reason is None else Interval(None, reason)


def _no_answer(method: Method, column: np.ndarray) -> str | None:
    """Return why the angles have no interval of their correlation with a column, if so."""
    steps = method.steps
    if len(steps) == 0:
        return "no rotations"
    if np.ptp(steps.angle) == 0:
        return f"every angle is {steps.angle[0]} degrees"
    if np.ptp(column) == 0:
        return "every value is the same"
    return "a single task" if len(np.unique(steps.task)) == 1 else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
