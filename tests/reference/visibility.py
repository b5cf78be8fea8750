"""Visibility by testing every ray against every triangle, float64 NumPy: a plain reading of Appendix F."""

import numpy as np


def visible(corners, direction):
    """Which triangles [F, 3, 3] are seen from far away in a direction [3]: their normal faces it (by more than
    1e-4, edge-on is unseen) and nothing is met.

    Ray and triangle meet where the three signed volumes of the direction with the triangle's edges agree.
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    centroid = corners.mean(axis=1)
    seen = normal @ direction > 1e-4
    for i in np.flatnonzero(seen):
        p, q, r = (corner - centroid[i] for corner in (a, b, c))
        volumes = np.stack([np.cross(p, q) @ direction, np.cross(q, r) @ direction, np.cross(r, p) @ direction])
        through = (volumes > 0).all(axis=0) | (volumes < 0).all(axis=0)
        through[i] = False
        ahead = ((a - centroid[i]) * normal).sum(axis=1) / np.where(through, normal @ direction, 1.0) > 1e-3
        seen[i] = not (through & ahead).any()
    return seen
