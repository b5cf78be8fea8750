"""`divergence`: whether a rotation helped the picture, the pose, both or neither: UC, DC, UF and DF (K.3)."""

import numpy as np

from rotajax.analysis.intervals import bootstrap_counts, task_bootstrap
from rotajax.analysis.method import Method

IOU_NEUTRAL = 1e-6
ERROR_NEUTRAL_DEG = 1e-4
# Up or down in IoU, closer or further in pose error; neutral where either change lies within its zone.
CLASSES = ("UC", "DC", "UF", "DF", "neutral")


def divergence(iou_change: np.ndarray, error_change: np.ndarray) -> np.ndarray:
    """Return the class of each action, int32 [N], index of CLASSES.

    iou_change: [N]; error_change: [N], degrees, negative where the pose came closer.
    """
    up, down = iou_change > IOU_NEUTRAL, iou_change < -IOU_NEUTRAL
    closer, further = error_change < -ERROR_NEUTRAL_DEG, error_change > ERROR_NEUTRAL_DEG
    classes = [up & closer, down & closer, up & further, down & further]
    return np.select(classes, range(4), 4).astype(np.int32)


def of_steps(method: Method) -> np.ndarray:
    """Return the class of every rotation of a method, int32 [N]."""
    steps = method.steps
    return divergence(steps.iou_after - steps.iou_before, steps.error_after - steps.error_before)


def divergences(method: Method) -> dict:
    """Return the row of a method: the percentage of all rotations in each class, with intervals; null without one."""
    found, counts = of_steps(method), bootstrap_counts(len(method.tasks))
    row: dict = {"policy": method.name, "rotations": len(found)}
    intervals: dict = {}
    for index, name in enumerate(CLASSES):
        above, below = method.per_task(100.0 * (found == index))
        row[f"{name}_pct"] = float(above.sum() / below.sum()) if len(found) else None
        intervals |= task_bootstrap(above, below, counts).fields(f"{name}_pct")
    return row | intervals
