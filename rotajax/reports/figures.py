"""`figures`: the pictures of a report as PNG and SVG, drawn from its tables; the same tables give the same bytes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rotajax.reports.curve import paint_curves
from rotajax.reports.drawing import as_png, as_svg, draw, label, legend
from rotajax.reports.layout import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def figures(tables: Sequence[Table]) -> dict[str, tuple[str, bytes, bytes]]:
    """Return title, PNG and SVG of every picture that the tables give, by name (Figures 3, 4, 5; Tables 12, 17)."""
    by_name = {table.name: table for table in tables}
    found = {}
    for name, (title, source, painter) in _FIGURES.items():
        if source in by_name:
            figure = draw(by_name[source].rows, painter)
            found[name] = title, as_png(figure), as_svg(figure)
    return found


def _stacked(axes: "Axes", rows: Sequence[dict], names: Sequence[str], name_of: Callable[[dict], str]) -> None:
    left = np.zeros(len(rows))
    for name, colour in zip(names, ("#2a7f62", "#9fc5e8", "#e69138", "#cc4125", "#999999"), strict=True):
        values = np.array([row[f"{name}_pct"] or 0.0 for row in rows])
        if values.any():
            axes.barh(np.arange(len(rows)), values, left=left, color=colour, label=name)
        left += values
    axes.set(xlabel="%", xlim=(0, 100), yticks=np.arange(len(rows)), yticklabels=[name_of(row) for row in rows])
    axes.invert_yaxis()
    legend(axes, 5)


def _draw_outcomes(axes: "Axes", rows: Sequence[dict]) -> None:
    _stacked(axes, rows, ("success", "stagnation", "stop", "limit", "error"), label)


def _draw_matched(axes: "Axes", rows: Sequence[dict]) -> None:
    shown = [row for row in rows if row["policy"] != "difference"]
    many = len(shown) > 2
    _stacked(
        axes,
        shown,
        ("UC", "DC", "UF", "DF", "neutral"),
        lambda r: f"{r['pair']}:\n{label(r)}" if many else label(r),
    )


def _draw_associations(axes: "Axes", rows: Sequence[dict]) -> None:
    place = np.arange(len(rows))
    for shift, key, name in ((-0.2, "iou_angle_abs", "IoU–angle"), (0.2, "pose_angle_abs", "pose–angle")):
        values = np.array([row[key] or 0.0 for row in rows])
        axes.barh(place + shift, values, height=0.38, label=name)
        for at, value, row in zip(place + shift, values, rows, strict=True):
            if row[f"{key}_ci95"] is not None:
                axes.hlines(at, *row[f"{key}_ci95"], color="0.2", linewidth=1.2)
            elif row[key] is None:
                axes.text(value, at, f" {row[f'{key}_ci95_reason']}", va="center", fontsize="x-small")
    axes.set(xlabel="|ρ|", xlim=(0, 1), yticks=place, yticklabels=[label(row) for row in rows])
    axes.invert_yaxis()
    legend(axes, 2)


def _draw_oracles(axes: "Axes", rows: Sequence[dict]) -> None:
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    oracles = list(dict.fromkeys(row["oracle"] for row in rows))
    height = 0.8 / len(oracles)
    for index, oracle in enumerate(oracles):
        mine = {row["policy"]: row for row in rows if row["oracle"] == oracle}
        at = np.arange(len(policies)) + (index - (len(oracles) - 1) / 2) * height
        values = [mine[policy]["successor_error_deg"] or 0.0 for policy in policies]
        axes.barh(at, values, height=0.92 * height, label=oracle.replace("_", " "))
    axes.set(xlabel="Pose error after the action, degrees", yticks=range(len(policies)))
    axes.set_yticklabels([label({"policy": policy}) for policy in policies])
    axes.invert_yaxis()
    legend(axes, 3)


_FIGURES = {
    "iou_curves": (
        "Mean IoU against executed rotations, with 95 % intervals over tasks (Figure 3)",
        "curves",
        paint_curves,
    ),
    "outcomes": ("How episodes ended (Table 12)", "outcomes", _draw_outcomes),
    "associations": (
        "Chosen angle against IoU and pose error before it (Figure 4)",
        "associations",
        _draw_associations,
    ),
    "oracles": ("Pose error after one action: as taken, at random, made better (Table 17)", "oracles", _draw_oracles),
    "matched": ("Actions in the same states (Figure 5)", "matched", _draw_matched),
}
