"""`draw`: a picture, `as_png` and `as_svg` its bytes; the same rows give the same bytes."""

import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "uniform_random": "Uniform random",
    "random_rollback": "Random + IoU rollback",
    "iou_greedy": "IoU greedy",
    "pose_greedy": "Pose greedy",
}


def draw(rows: Sequence[dict], painter: Callable[["Axes", Sequence[dict]], None]) -> "Figure":
    """Return what a painter makes of the rows of a table."""
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
        axes = figure.add_subplot()
        painter(axes, rows)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _style() -> AbstractContextManager:
    import matplotlib as mpl

    # Text stays text, and identifiers in the SVG do not depend on the hour.
    return mpl.rc_context({"svg.hashsalt": "rotajax", "svg.fonttype": "none", "font.size": 10})


def as_png(figure: "Figure") -> bytes:
    """Return a picture as PNG."""
    return _saved(figure, "png", {"Software": None})


def as_svg(figure: "Figure") -> bytes:
    """Return a picture as SVG."""
    return _saved(figure, "svg", {"Date": None, "Creator": None})


def _saved(figure: "Figure", form: str, metadata: dict) -> bytes:
    data = io.BytesIO()
    with _style():
        figure.savefig(data, format=form, metadata=metadata)
    return data.getvalue()


def legend(axes: "Axes", columns: int) -> None:
    """Put the legend below the axes, if anything was drawn."""
    if axes.get_legend_handles_labels()[0]:
        axes.figure.legend(loc="outside lower center", ncols=columns, fontsize="small", frameon=False)


def label(row: dict) -> str:
    """Return how a row's policy is called in a picture."""
    return str(LABELS.get(row["policy"], row["policy"]))
