"""`draw_curves`: a picture of mean IoU against executed rotations (Figure 3); `curve_rows`: its numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rotajax.analysis import Method, iou_curve
from rotajax.env.rollout import HORIZON
from rotajax.files import write_atomically
from rotajax.reports.drawing import as_png, draw, label, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THRESHOLD = 0.90


def curve_rows(method: Method) -> list[dict]:
    """Return a row for each of 0 to 48 rotations: mean IoU and its interval."""
    curve = iou_curve(method)
    return [
        {"policy": method.name, "rotations": t, "iou": mean} | interval.fields("iou")
        for t, (mean, interval) in enumerate(zip(curve.mean.tolist(), curve.intervals, strict=True))
    ]


def draw_curves(methods: Sequence[Method], out: str | Path, *, title: str) -> Path:
    """Write the curves of methods as a PNG picture and return its path. The same curves give the same bytes."""

    def painter(axes: "Axes", rows: Sequence[dict]) -> None:
        paint_curves(axes, rows)
        axes.set_title(title)

    figure = draw([row for method in methods for row in curve_rows(method)], painter)
    write_atomically(Path(out), as_png(figure))
    return Path(out)


def paint_curves(axes: "Axes", rows: Sequence[dict]) -> None:
    """Draw the rows of `curve_rows`, those of one policy as a line in its interval."""
    for policy in dict.fromkeys(row["policy"] for row in rows):
        mine = [row for row in rows if row["policy"] == policy]
        t, mean = [row["rotations"] for row in mine], [row["iou"] for row in mine]
        (line,) = axes.plot(t, mean, marker="o", markersize=2.5, label=label(mine[0]))
        ends = np.array([row["iou_ci95"] or [np.nan, np.nan] for row in mine])
        axes.fill_between(t, *ends.T, color=line.get_color(), alpha=0.15)
    axes.axhline(_THRESHOLD, color="0.3", linestyle="--", linewidth=1, label=f"success at {_THRESHOLD:.2f}")
    axes.set(xlabel="Executed rotations", ylabel="Mean IoU", xlim=(0, HORIZON), ylim=(0, 1))
    axes.grid(alpha=0.25)
    legend(axes, 3)
