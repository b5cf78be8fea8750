"""`draw_curves`: a picture of mean IoU against executed rotations (Figure 3)."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rotajax.analysis import Method
from rotajax.analysis.curves import task_curves
from rotajax.env.rollout import HORIZON
from rotajax.files import write_atomically

THRESHOLD = 0.90
LABELS = {
    "uniform_random": "Uniform random",
    "random_rollback": "Random + IoU rollback",
    "iou_greedy": "IoU greedy",
    "pose_greedy": "Pose greedy",
}


def draw_curves(methods: Sequence[Method], out: str | Path, *, title: str) -> Path:
    """Write the curves of methods as a PNG picture and return its path. The same curves give the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    out = Path(out)
    figure = Figure(figsize=(7.0, 4.6), dpi=150, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for method in methods:
        curve = task_curves(method).mean(axis=0)
        axes.plot(np.arange(HORIZON + 1), curve, marker="o", markersize=2.5, label=LABELS.get(method.name, method.name))
    axes.axhline(THRESHOLD, color="0.3", linestyle="--", linewidth=1, label=f"success at {THRESHOLD:.2f}")
    axes.set(xlabel="Executed rotations", ylabel="Mean IoU", xlim=(0, HORIZON), ylim=(0, 1), title=title)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    picture = io.BytesIO()
    canvas.print_png(picture, metadata={"Software": None})
    write_atomically(out, picture.getvalue())
    return out
