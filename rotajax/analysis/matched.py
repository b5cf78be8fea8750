"""`matched_states`: what two methods do at the same poses (Figure 5, Table 8, K.6)."""

import dataclasses

import numpy as np

from rotajax.analysis.differences import common_tasks
from rotajax.analysis.divergence import CLASSES, of_steps
from rotajax.analysis.intervals import Interval, bootstrap_counts, paired_bootstrap, task_bootstrap
from rotajax.analysis.method import Method
from rotajax.analysis.states import state_numbers


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Matched rotations, P pairs, each of the same weight."""

    first: np.ndarray  # int64 [P], rows of the first method's steps
    second: np.ndarray  # int64 [P], rows of the second method's steps
    task: np.ndarray  # int64 [P], index of `tasks`
    tasks: tuple[str, ...]  # the tasks that both methods played

    def __len__(self) -> int:
        return len(self.first)


def match(first: Method, second: Method) -> Pairs:
    """Return the pairs of rotations that two methods took at the same pose of the same task.

    A state is a pose. Each episode of the first method gives a pair for every state in which it rotated and in which
    the second method rotated too: its own first visit with the second method's first, by seed, then step. The pose an
    episode starts from is no match, also when it is come back to. Raises ValueError for methods of different suites,
    or without a task in common.
    """
    rows_of = common_tasks(first, second)
    states = state_numbers((first, second), rows_of)
    initial = [set(state[method.steps.t == 0].tolist()) for state, method in zip(states, (first, second), strict=True)]
    excluded = initial[0] | initial[1] | {-1}
    visited: dict[int, int] = {}
    for row in np.lexsort((second.steps.t, second.episodes.seed[second.steps.episode])).tolist():
        visited.setdefault(int(states[1][row]), row)
    seen: set[tuple[int, int]] = set()
    pairs = []
    for row, (state, episode) in enumerate(zip(states[0].tolist(), first.steps.episode.tolist(), strict=True)):
        if state in excluded or state not in visited or (episode, state) in seen:
            continue
        seen.add((episode, state))
        pairs.append((row, visited[state]))
    table = np.array(pairs, np.int64).reshape(-1, 2)
    index = np.full(len(first.tasks), -1, np.int64)
    index[rows_of[0]] = np.arange(len(rows_of[0]))
    tasks = tuple(first.tasks[row] for row in rows_of[0])
    return Pairs(table[:, 0], table[:, 1], index[first.steps.task[table[:, 0]]], tasks)


def matched_states(
    first: Method,
    second: Method,
    *,
    coverage: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[dict]:
    """Return the rows of Table 8: first method, second method, and their difference, with intervals.

    Columns: rotations and coverage before the action, mean change of IoU, the percentage of each class of
    `divergence`, and the mean reduction of the pose error in degrees. coverage: percent of the surface seen up to and
    including the state of each rotation, [N] a method, where measured. Null without a pair.
    """
    pairs = match(first, second)
    counts = bootstrap_counts(len(pairs.tasks))
    columns = [
        _columns(method, rows, seen)
        for method, rows, seen in zip(
            (first, second), (pairs.first, pairs.second), coverage or (None, None), strict=True
        )
    ]
    size = {"minlength": len(pairs.tasks)}
    below = np.bincount(pairs.task, **size).astype(np.float64)
    rows: list[dict] = []
    for name in (first.name, second.name, "difference"):
        context = {"pairs": len(pairs), "tasks": int((below > 0).sum())}
        rows.append({"policy": name, **context})
    for key in columns[0]:
        values = [side[key] for side in columns]
        if any(value is None for value in values):
            for row in rows:
                row |= {key: None} | Interval(None, "not measured").fields(key)
            continue
        sums = [np.bincount(pairs.task, weights=np.asarray(value, np.float64), **size) for value in values]
        means = [float(above.sum() / below.sum()) if len(pairs) else None for above in sums]
        for row, mean, above in zip(rows, means, sums, strict=False):
            row |= {key: mean} | task_bootstrap(above, below, counts).fields(key)
        gap = means[0] - means[1] if len(pairs) else None  # type: ignore[operator]
        interval = paired_bootstrap((sums[0], below), (sums[1], below), counts)
        rows[2] |= {key: gap} | interval.fields(key)
    return rows


def _columns(method: Method, rows: np.ndarray, coverage: np.ndarray | None) -> dict[str, np.ndarray | None]:
    """Return the columns of Table 8 for the matched rotations of a method."""
    steps, classes = method.steps, of_steps(method)[rows]
    return {
        "prior_rotations": steps.t[rows],
        "prior_coverage_pct": None if coverage is None else coverage[rows],
        "iou_change": (steps.iou_after - steps.iou_before)[rows],
        **{f"{name}_pct": 100.0 * (classes == index) for index, name in enumerate(CLASSES)},
        "pose_reduction_deg": (steps.error_before - steps.error_after)[rows],
    }
