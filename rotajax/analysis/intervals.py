"""95 % intervals: Wilson for a rate of single episodes, the task bootstrap for everything else (Appendix K.1, K.3)."""

import dataclasses

import numpy as np
from scipy.stats import binomtest

RESAMPLES = 10_000
_CELLS = 4_000_000  # of the table of counts made at a time: bounds the memory, 32 MB


@dataclasses.dataclass(frozen=True)
class Interval:
    """Low and high ends, or None and the reason why there is none."""

    ends: list[float] | None
    reason: str | None = None


def wilson(successes: int, trials: int) -> Interval:
    """Return the Wilson interval of a rate in percent.

    >>> [round(end, 2) for end in wilson(17, 100).ends]
    [10.89, 25.55]
    """
    if trials == 0:
        return Interval(None, "no episodes")
    ends = binomtest(successes, trials).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval([100.0 * float(ends.low), 100.0 * float(ends.high)])


def bootstrap_counts(tasks: int, *, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Return how often each task is drawn in each resample, float64 [resamples, tasks]; rows sum to `tasks`."""
    rng = np.random.default_rng(seed)
    counts = np.empty((resamples, tasks))
    block = max(1, _CELLS // tasks)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(0, tasks, (rows, tasks)) + np.arange(rows)[:, None] * tasks
        counts[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks)
    return counts


def task_bootstrap(numerator: np.ndarray, denominator: np.ndarray, counts: np.ndarray) -> Interval:
    """Return the percentile interval of sum(numerator) / sum(denominator) when whole tasks are drawn with replacement.

    numerator, denominator: float64 [T], sums over the steps and seeds of a task, which stay together; counts: from
    `bootstrap_counts`. Where no resample could differ, or one has nothing to divide by, there is a reason instead.
    """
    used = denominator > 0
    if not used.any():
        return Interval(None, "nothing to average")
    if used.sum() == 1:
        return Interval(None, "a single task")
    ratio = numerator[used] / denominator[used]
    if np.ptp(ratio) <= 1e-12 * max(1.0, float(np.abs(ratio).max())):
        return Interval(None, "no variation between tasks")
    below = counts @ denominator
    if not (below > 0).all():
        return Interval(None, f"undefined in {int((below <= 0).sum())} of {len(below)} resamples")
    low, high = np.percentile(counts @ numerator / below, [2.5, 97.5])
    return Interval([float(low), float(high)])
