"""Outline points of an icon mask, their enclosing circle, and their place in the solid's plane (Appendix G)."""

from contextlib import suppress
from itertools import combinations

import numpy as np

CAP = 90_000  # points kept at most
SCALE = 1.24  # factor between outline points and the plane, before the fit
RADIUS = 28.0  # radius r of the sphere
FIT = 0.98 * RADIUS  # radius of the enclosing circle in the plane
Circle = tuple[float, float, float]


def cap_indices(n: int, m: int = CAP) -> np.ndarray:
    """Return the indices Int64[min(n, m)] kept out of `n` points: floor(k (n - 1) / (m - 1)) when n > m.

    >>> cap_indices(7, 4).tolist()
    [0, 2, 4, 6]
    """
    if n <= m:
        return np.arange(n, dtype=np.int64)
    return np.arange(m, dtype=np.int64) * (n - 1) // (m - 1)


def outline_points(mask: np.ndarray) -> np.ndarray:
    """Return the points float64 [N, 2] (x, y) of the foreground pixels, row by row, N <= 90,000.

    Pixel (u, v), column and row, of `mask` Bool[512, 512] becomes (24 (u - 256) / 256, 24 (v - 256) / 256),
    rounded to 4 decimals; x points right, y down, range [-24, 24). Raises ValueError for another mask.
    """
    if mask.dtype != np.bool_ or mask.shape != (512, 512):
        raise ValueError(f"icons.outline_points: expected bool [512, 512], got {mask.dtype} {list(mask.shape)}")
    v, u = np.nonzero(mask)
    keep = cap_indices(len(u))
    pixels = np.stack([u[keep], v[keep]], axis=1).astype(np.float64)
    return np.round(24.0 * (pixels - 256.0) / 256.0, 4)


def enclosing_circle(points: np.ndarray) -> Circle:
    """Return the minimum enclosing circle (cx, cy, radius) of `points` float64 [N, 2], N >= 1.

    Exact up to float64 rounding, to 3e-8 where three points are right-angled but for rounding; the same for every order
    of the points. The radius is the largest distance from the centre that occurs, so that no point lies outside. Raises
    ValueError for no or non-finite points.

    >>> enclosing_circle(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    (1.0, 0.0, 1.0)
    """
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0 or not np.isfinite(points).all():
        raise ValueError(f"icons.enclosing_circle: expected finite points [N, 2], N >= 1, got {list(points.shape)}")
    corners = _hull(points.astype(np.float64))
    support = corners[[0, -1]] if len(corners) > 1 else corners
    circle, support = _carrying(support)
    while True:
        # Add the furthest point to the two or three that carry the circle: the radius grows at every turn, so
        # the loop ends; it is a simplex walk, and on hulls of real icons takes under ten turns.
        distance = np.hypot(corners[:, 0] - circle[0], corners[:, 1] - circle[1])
        furthest = corners[np.argmax(distance)]
        grown, carried = _carrying(np.concatenate([support, furthest[None]]))
        if distance.max() <= circle[2] * (1 + 1e-14) or grown[2] <= circle[2]:
            return circle[0], circle[1], float(distance.max())
        circle, support = grown, carried


def plane_circle(points: np.ndarray) -> Circle:
    """Return the enclosing circle (cx, cy, radius) of the outline points x 1.24: the circle a suite stores."""
    return enclosing_circle(SCALE * points)


def plane_points(points: np.ndarray, circle: Circle) -> np.ndarray:
    """Return the outline points float64 [N, 2] moved into the solid's plane, in plane units, norm <= 27.44.

    `circle` is the one of the points x 1.24 (`plane_circle`). The points x 1.24 are centred on it and scaled,
    up or down, so that it gets the radius 0.98 x 28. Raises ValueError where the circle has no radius.
    """
    cx, cy, radius = circle
    if not (np.isfinite([cx, cy, radius]).all() and radius > 0):
        raise ValueError(f"icons.plane_points: expected a circle of positive radius, got {circle!r}")
    return (SCALE * points - np.array([cx, cy], np.float64)) * (FIT / radius)


def _hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, in lexicographic order."""
    from scipy.spatial import ConvexHull, QhullError

    # Of a run of points with the same y only its ends can be corners: 90,000 points become some 1,000.
    starts = np.flatnonzero(np.concatenate([[True], points[1:, 1] != points[:-1, 1]]))
    rows = points[starts, 1]
    left, right = (np.stack([end.reduceat(points[:, 0], starts), rows], 1) for end in (np.minimum, np.maximum))
    points = np.unique(np.concatenate([left, right]), axis=0)
    if len(points) > 3:
        with suppress(QhullError):  # collinear, or all the same point: every point stays a candidate
            points = points[ConvexHull(points).vertices]
    return np.unique(points, axis=0)


def _carrying(points: np.ndarray) -> tuple[Circle, np.ndarray]:
    """Return the smallest circle round at most 4 points, and those 1 to 3 of them that lie on it."""
    points = np.unique(points, axis=0)
    if len(points) == 1:
        return (float(points[0, 0]), float(points[0, 1]), 0.0), points
    best: tuple[Circle, np.ndarray] | None = None
    for size in (2, 3):
        for chosen in combinations(range(len(points)), size):
            corners = points[list(chosen)]
            circle = _through_two(corners) if size == 2 else _through_three(corners)
            if circle is None or (best is not None and circle[2] >= best[0][2]):
                continue
            reach = np.hypot(points[:, 0] - circle[0], points[:, 1] - circle[1]).max()
            if reach <= circle[2] * (1 + 1e-12):
                best = circle, corners
    if best is None:
        raise ValueError("icons.enclosing_circle: expected points within float64 range, got numbers too far apart")
    return best


def _through_two(corners: np.ndarray) -> Circle:
    (ax, ay), (bx, by) = corners.tolist()
    return (ax + bx) / 2, (ay + by) / 2, float(np.hypot(bx - ax, by - ay)) / 2


def _through_three(corners: np.ndarray) -> Circle | None:
    (ax, ay), (bx, by), (cx, cy) = corners.tolist()
    bx, by, cx, cy = bx - ax, by - ay, cx - ax, cy - ay
    area = 2 * (bx * cy - by * cx)
    if area == 0:
        return None
    b, c = bx * bx + by * by, cx * cx + cy * cy
    x, y = (cy * b - by * c) / area, (bx * c - cx * b) / area
    return ax + x, ay + y, float(np.hypot(x, y))
