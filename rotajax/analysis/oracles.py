"""`oracles`: the pose error after one action, as taken and with its direction or angle made best (Table 17, K.7)."""

import numpy as np

from rotajax.analysis.intervals import bootstrap_counts, task_bootstrap
from rotajax.analysis.method import Method
from rotajax.analysis.successors import successor_errors
from rotajax.geometry.rotation import ANGLES, DIRECTIONS

ORACLES = ("actual", "uniform_random", "best_direction", "best_angle", "joint")


def oracles(method: Method) -> list[dict]:
    """Return a row an oracle over all states in which the method rotated, with intervals; see ORACLES.

    `successor_error_deg` is the mean pose error after the action, `improvement_deg` what it is below the actual one.
    The uniform one averages the 24 actions, the best direction keeps the chosen angle, the best angle the chosen
    direction. Null without a state.
    """
    steps, counts = method.steps, bootstrap_counts(len(method.tasks))
    errors = successor_errors(steps.rotation, steps.task, method.groups)
    found = oracle_errors(errors, steps.action)
    rows = []
    for name in ORACLES:
        row: dict = {"policy": method.name, "oracle": name, "states": len(steps)}
        intervals: dict = {}
        columns = {"successor_error_deg": found[name], "improvement_deg": found["actual"] - found[name]}
        for key, column in columns.items():
            above, below = method.per_task(column)
            row[key] = float(above.sum() / below.sum()) if len(steps) else None
            if name != "actual" or key != "improvement_deg":  # which is zero by definition, not by measurement
                intervals |= task_bootstrap(above, below, counts).fields(key)
        rows.append(row | intervals)
    return rows


def oracle_errors(errors: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
    """Return the pose error after each oracle's action, float64 [N] each.

    errors: [N, 24], of all successors; action: int [N], the rotation taken.
    """
    direction, angle = np.divmod(action, len(ANGLES))
    table = errors.reshape(-1, len(DIRECTIONS), len(ANGLES))
    row = np.arange(len(table))
    return {
        "actual": table[row, direction, angle],
        "uniform_random": errors.mean(axis=1),
        "best_direction": table[row, :, angle].min(axis=1),
        "best_angle": table[row, direction].min(axis=1),
        "joint": errors.min(axis=1),
    }
