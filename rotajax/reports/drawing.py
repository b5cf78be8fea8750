"""`draw`: a picture as PNG and SVG; the same rows give the same bytes."""

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {
    "uniform_random": "Uniform random",
    "random_rollback": "Random + IoU rollback",
    "iou_greedy": "IoU greedy",
    "pose_greedy": "Pose greedy",
}


def draw(rows: Sequence[dict], painter: Callable[["Axes", Sequence[dict]], None]) -> tuple[bytes, bytes]:
    """Return PNG and SVG of what a painter makes of the rows of a table."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Text stays text, and identifiers in the SVG do not depend on the hour.
    with mpl.rc_context({"svg.hashsalt": "rotajax", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        painter(axes, rows)
        axes.spines[["top", "right"]].set_visible(False)
        png, svg = io.BytesIO(), io.BytesIO()
        canvas.print_png(png, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return png.getvalue(), svg.getvalue()


def legend(axes: "Axes", columns: int) -> None:
    """Put the legend below the axes."""
    axes.figure.legend(loc="outside lower center", ncols=columns, fontsize="small", frameon=False)


def label(row: dict) -> str:
    """Return how a row's policy is called in a picture."""
    return str(LABELS.get(row["policy"], row["policy"]))
