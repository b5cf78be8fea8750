"""Measures of an icon mask and the verdict of the paper's filters on them (Appendix G)."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from rotajax.icons.outline import RADIUS, outline_points, plane_circle, plane_points

CELLS = 112  # cells a side of the occupancy grid over [-28, 28]
CELL = 2 * RADIUS / CELLS  # 0.5
MIN_FOREGROUND = 2_000
MIN_COMPONENT_RATIO = 0.985
MIN_CIRCLE_OCCUPANCY = 0.28
MIN_BOX_OCCUPANCY = 0.08
MAX_ASPECT = 2.2


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What the filters look at; the four ratios are None for a mask too small to have an enclosing circle.

    foreground: pixels, before the cap. component_ratio: share of the points in the largest component,
    [0, 1]. circle_occupancy: occupied cells over the area of the sphere's disc, [0, 1]. box_occupancy:
    occupied cells over the cells of their bounding box, (0, 1]. aspect: longer side of that box over the
    shorter, >= 1.
    """

    foreground: int
    component_ratio: float | None
    circle_occupancy: float | None
    box_occupancy: float | None
    aspect: float | None


def measure(mask: np.ndarray) -> Measures:
    """Return the measures of `mask` Bool[512, 512], taken in the solid's own plane on 112 x 112 cells of 0.5.

    A cell is clip(floor((q + 28) / 0.5), 0, 111); components have 8-connectivity and are weighed in points.
    """
    count = int(np.count_nonzero(mask))
    points = outline_points(mask)
    circle = plane_circle(points) if count else (0.0, 0.0, 0.0)
    if circle[2] == 0:
        return Measures(foreground=count, component_ratio=None, circle_occupancy=None, box_occupancy=None, aspect=None)
    cells = np.clip(np.floor((plane_points(points, circle) + RADIUS) / CELL).astype(np.int64), 0, CELLS - 1)
    weight = np.bincount(cells[:, 1] * CELLS + cells[:, 0], minlength=CELLS * CELLS).reshape(CELLS, CELLS)
    occupied = weight > 0
    labels = np.zeros((CELLS, CELLS), np.int32)
    ndimage.label(occupied, structure=np.ones((3, 3), np.int64), output=labels)  # diagonal neighbours count
    components = np.bincount(labels.ravel(), weights=weight.ravel())[1:]
    columns = np.ptp(np.flatnonzero(occupied.any(axis=0))) + 1
    rows = np.ptp(np.flatnonzero(occupied.any(axis=1))) + 1
    area = int(np.count_nonzero(occupied))
    return Measures(
        foreground=count,
        component_ratio=float(components.max() / len(points)),
        circle_occupancy=float(area / (np.pi * (CELLS / 2) ** 2)),
        box_occupancy=float(area / (columns * rows)),
        aspect=float(max(columns, rows) / min(columns, rows)),
    )


def judge(measures: Measures) -> str | None:
    """Return None for an icon that passes, else the name of the first filter it fails, `empty` for no pixel.

    Filters in order: foreground >= 2,000, component_ratio >= 0.985, circle_occupancy >= 0.28,
    box_occupancy >= 0.08, aspect <= 2.2.
    """
    if measures.foreground == 0:
        return "empty"
    if measures.foreground < MIN_FOREGROUND:
        return "foreground"
    for name, least in (
        ("component_ratio", MIN_COMPONENT_RATIO),
        ("circle_occupancy", MIN_CIRCLE_OCCUPANCY),
        ("box_occupancy", MIN_BOX_OCCUPANCY),
    ):
        value = getattr(measures, name)
        if value is None or value < least:
            return name
    return "aspect" if measures.aspect is None or measures.aspect > MAX_ASPECT else None
