"""`angles`: how often each of the four angles was chosen (Tables 2 and 15)."""

from rotajax.analysis.intervals import bootstrap_counts, task_bootstrap
from rotajax.analysis.method import Method
from rotajax.geometry.rotation import ANGLES


def angles(method: Method) -> dict:
    """Return the row of a method: rotations at 1, 5, 10 and 30 degrees, in number and percent, with intervals.

    Percentages pool all executed rotations; null without one.
    """
    row: dict = {"policy": method.name, "rotations": len(method.steps)}
    intervals: dict = {}
    for angle in ANGLES:
        chosen, all_of_task = method.per_task(method.steps.angle == angle)
        number, total = int(chosen.sum()), int(all_of_task.sum())
        row |= {f"angle_{angle}": number, f"angle_{angle}_pct": 100.0 * number / total if total else None}
        interval = task_bootstrap(100.0 * chosen, all_of_task, bootstrap_counts(len(method.tasks)))
        intervals |= interval.fields(f"angle_{angle}_pct")
    return row | intervals
