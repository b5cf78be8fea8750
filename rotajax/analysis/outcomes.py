"""`outcomes`: how episodes ended and how often the same rotation came twice in a row (Table 12)."""

import numpy as np

from rotajax.analysis.intervals import bootstrap_counts, task_bootstrap, wilson
from rotajax.analysis.method import Method
from rotajax.records import OUTCOMES

ENDINGS = ("success", "stagnation", "stop", "limit", "error")


def outcomes(method: Method) -> dict:
    """Return the row of a method: the number and the percentage of every ending, and of repeats.

    `repeat_pct` is over consecutive rotations of an episode, `repeat_pairs` of them; null where no episode has two. A
    rate of single episodes has its Wilson interval, one of several episodes a task the task bootstrap's.
    """
    row: dict = {"policy": method.name, "episodes": len(method.episodes)}
    intervals: dict = {}
    counts = bootstrap_counts(len(method.tasks))
    for ending in ENDINGS:
        ended = method.episodes.outcome == OUTCOMES.index(ending)
        number = int(ended.sum())
        row |= {ending: number, f"{ending}_pct": 100.0 * number / len(ended)}
        single = len(ended) == len(method.tasks)
        task = np.bincount(method.episodes.task, minlength=len(method.tasks)).astype(np.float64)
        sums = np.bincount(method.episodes.task, weights=100.0 * ended, minlength=len(method.tasks))
        interval = wilson(number, len(ended)) if single else task_bootstrap(sums, task, counts)
        intervals |= interval.fields(f"{ending}_pct")
    same, pairs = method.per_task(*repeats(method))
    row |= {
        "repeat_pairs": int(pairs.sum()),
        "repeat_pct": 100.0 * float(same.sum() / pairs.sum()) if pairs.sum() else None,
    }
    return row | intervals | task_bootstrap(100.0 * same, pairs, counts).fields("repeat_pct")


def repeats(method: Method) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each rotation is the one before it again, and whether there is one before it, bool [N] each."""
    steps = method.steps
    follows = np.zeros(len(steps), np.bool_)
    follows[1:] = steps.episode[1:] == steps.episode[:-1]
    again = follows.copy()
    again[1:] &= steps.action[1:] == steps.action[:-1]
    return again, follows
