"""`mean_iou_curves` and `draw_curves`: mean IoU against executed rotations (Figure 3)."""

import io
from pathlib import Path

import numpy as np

from rotajax.env.actions import ROTATIONS
from rotajax.env.rollout import HORIZON
from rotajax.files import write_atomically
from rotajax.records import Run

THRESHOLD = 0.90
LABELS = {
    "uniform_random": "Uniform random",
    "random_rollback": "Random + IoU rollback",
    "iou_greedy": "IoU greedy",
    "pose_greedy": "Pose greedy",
}


def mean_iou_curves(run: Run) -> dict[str, np.ndarray]:
    """Return the mean IoU after 0..48 rotations, float64 [49], of every policy.

    An episode that has ended keeps its final IoU; the episodes of a task are averaged first, then the tasks.
    """
    episodes, decisions = run.episodes, run.decisions
    iou = np.repeat(episodes.final_iou[:, None].astype(np.float64), HORIZON + 1, axis=1)
    rotated = decisions.action < ROTATIONS
    # Column t is the IoU before rotation t; STOP is the last decision, so t counts rotations only.
    iou[decisions.episode[rotated], decisions.t[rotated]] = decisions.iou_before[rotated]
    curves = {}
    for index, policy in enumerate(run.policies):
        chosen = np.flatnonzero(episodes.policy == index)
        _, task = np.unique(episodes.task[chosen], return_inverse=True)
        weights = 1.0 / np.bincount(task)[task]
        curves[policy] = np.average(iou[chosen], axis=0, weights=weights)
    return curves


def draw_curves(curves: dict[str, np.ndarray], out: str | Path, *, title: str) -> Path:
    """Write the curves as a PNG picture and return its path. The same curves give the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    out = Path(out)
    figure = Figure(figsize=(7.0, 4.6), dpi=150, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for policy, curve in curves.items():
        axes.plot(np.arange(len(curve)), curve, marker="o", markersize=2.5, label=LABELS.get(policy, policy))
    axes.axhline(THRESHOLD, color="0.3", linestyle="--", linewidth=1, label=f"success at {THRESHOLD:.2f}")
    axes.set(xlabel="Executed rotations", ylabel="Mean IoU", xlim=(0, HORIZON), ylim=(0, 1), title=title)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    picture = io.BytesIO()
    canvas.print_png(picture, metadata={"Software": None})
    write_atomically(out, picture.getvalue())
    return out
