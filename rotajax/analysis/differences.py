"""`differences`: two methods on the same tasks, figure by figure, with paired intervals (Tables 14 and 16, K.3)."""

import numpy as np

from rotajax.analysis.intervals import bootstrap_counts, paired_bootstrap, task_bootstrap
from rotajax.analysis.method import Method
from rotajax.analysis.summary import METRICS, task_sums
from rotajax.checks import require


def differences(first: Method, second: Method, *, coverage: tuple[np.ndarray, np.ndarray] | None = None) -> list[dict]:
    """Return a row a metric of Tables 1 and 9: both methods on their common tasks, and the first minus the second.

    coverage: percent of the surface seen in each episode, [E] a method, where measured. All steps and episodes of a
    task stay together, and both methods have the same drawn tasks in each resample. Raises ValueError for methods of
    different suites, or without a task in common.
    """
    rows_of = common_tasks(first, second)
    found = [
        {name: (above[rows], below[rows]) for name, (above, below) in task_sums(method, seen).items()}
        for method, rows, seen in zip((first, second), rows_of, coverage or (None, None), strict=True)
    ]
    counts = bootstrap_counts(len(rows_of[0]))
    rows = []
    for name in METRICS:
        if not all(name in sums for sums in found):
            continue
        pair = [sums[name] for sums in found]
        values = [float(above.sum() / below.sum()) if below.sum() > 0 else None for above, below in pair]
        row: dict = {"metric": name, "tasks": len(rows_of[0]), "first": values[0], "second": values[1]}
        row["difference"] = None if None in values else values[0] - values[1]  # type: ignore[operator]
        for side, sums in zip(("first", "second"), pair, strict=True):
            row |= task_bootstrap(*sums, counts).fields(side)
        rows.append(row | paired_bootstrap(pair[0], pair[1], counts).fields("difference"))
    return rows


def common_tasks(first: Method, second: Method) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the tasks that both methods played, in each of them, in the same order."""
    name = f"comparison of '{first.run}' and '{second.run}'"
    same = first.suite == second.suite
    require(same, f"{name}: suite", str(first.suite.get("sha256"))[:12], str(second.suite.get("sha256"))[:12])
    shared = sorted(set(first.tasks) & set(second.tasks))
    require(len(shared) > 0, name, "tasks in common", "none")
    return tuple(np.array([method.tasks.index(task) for task in shared]) for method in (first, second))  # type: ignore[return-value]
