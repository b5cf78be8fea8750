"""95 % intervals: Wilson for a rate of single episodes, the task bootstrap for everything else (Appendix K.1, K.3)."""

import dataclasses
from functools import lru_cache

import numpy as np
from scipy.stats import binomtest

RESAMPLES = 10_000
_CELLS = 4_000_000  # of the table of counts made at a time: bounds the memory, 32 MB
# Resamples in which a figure is undefined are left out, and counted in the reason, up to this part of all.
_UNDEFINED = 0.01
# Figures no further apart are the same: those of a run file are float32, a pose error is known to 2e-5 degrees
# (`decomposition`). A tie of two successors differs by such noise; it is no variation, and no table prints it.
_NOISE = 2e-5
_SAME = "no variation between tasks"


@dataclasses.dataclass(frozen=True)
class Interval:
    """Low and high ends, or None and the reason why there is none; a reason beside ends says what was left out."""

    ends: list[float] | None
    reason: str | None = None

    def fields(self, name: str) -> dict:
        """Return the fields of a row: `<name>_ci95`, and `<name>_ci95_reason` where there is a reason."""
        found: dict = {f"{name}_ci95": self.ends}
        return found if self.reason is None else found | {f"{name}_ci95_reason": self.reason}


def wilson(successes: int, trials: int) -> Interval:
    """Return the Wilson interval of a rate in percent.

    >>> [round(end, 2) for end in wilson(17, 100).ends]
    [10.89, 25.55]
    """
    if trials == 0:
        return Interval(None, "no episodes")
    ends = binomtest(successes, trials).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval([100.0 * float(ends.low), 100.0 * float(ends.high)])


@lru_cache(maxsize=2)
def bootstrap_counts(tasks: int, *, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Return how often each task is drawn in each resample, float64 [resamples, tasks]; rows sum to `tasks`.

    The same for every method with as many tasks, read only: figures compared with one another share their resamples.
    """
    rng = np.random.default_rng(seed)
    counts = np.empty((resamples, tasks))
    block = max(1, _CELLS // tasks)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(0, tasks, (rows, tasks)) + np.arange(rows)[:, None] * tasks
        counts[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks)
    counts.setflags(write=False)
    return counts


def task_bootstrap(numerator: np.ndarray, denominator: np.ndarray, counts: np.ndarray) -> Interval:
    """Return the percentile interval of sum(numerator) / sum(denominator) when whole tasks are drawn with replacement.

    numerator, denominator: float64 [T], sums over the steps and seeds of a task, which stay together; counts: from
    `bootstrap_counts`. Where no resample could differ, or too many have nothing to divide by, there is a reason.
    """
    if (reason := _few(denominator)) is not None:
        return Interval(None, reason)
    return percentiles(_ratio(counts @ numerator, counts @ denominator))


def mean_bootstrap(values: np.ndarray, counts: np.ndarray) -> tuple[Interval, ...]:
    """Return the intervals of the means over tasks of each column of values, float64 [T, K]; see `task_bootstrap`."""
    if (reason := _few(np.ones(len(values)))) is not None:
        return (Interval(None, reason),) * values.shape[1]
    return tuple(percentiles(means) for means in (counts @ values / len(values)).T)


def paired_bootstrap(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], counts: np.ndarray
) -> Interval:
    """Return the percentile interval of the first ratio minus the second when both are of the same drawn tasks.

    first, second: numerator and denominator by task, float64 [T] each, the tasks in the same order (Tables 14, 16).
    """
    (a, below_a), (b, below_b) = first, second
    for below in (below_a, below_b):
        if (reason := _few(below)) is not None:
            return Interval(None, reason)
    return percentiles(_ratio(counts @ a, counts @ below_a) - _ratio(counts @ b, counts @ below_b))


def percentiles(samples: np.ndarray) -> Interval:
    """Return the 2.5th and 97.5th percentile of a figure over resamples, [B]; NaN is a resample where it is undefined.

    A figure that no resample changes, but for noise, has no interval but a reason: its spread is unknown, not zero.
    """
    defined = samples[~np.isnan(samples)]
    missing = len(samples) - len(defined)
    note = f"undefined in {missing} of {len(samples)} resamples" if missing else None
    if missing > _UNDEFINED * len(samples):
        return Interval(None, note)
    low, high = np.percentile(defined, [2.5, 97.5])
    if high - low <= _NOISE:
        return Interval(None, _SAME)
    return Interval([float(low), float(high)], f"{note}, left out" if note else None)


def _few(denominator: np.ndarray) -> str | None:
    used = int((denominator > 0).sum())
    return {0: "nothing to average", 1: "a single task"}.get(used)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
