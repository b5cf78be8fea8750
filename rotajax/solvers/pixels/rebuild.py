"""`rebuild`: the solid that a target picture shows, by the construction rule alone (Equation 5, Appendix G)."""

import numpy as np
from scipy import ndimage

from rotajax.checks import require
from rotajax.geometry.solid import RADIUS, Solid, make_solid
from rotajax.render.camera import CENTRE, SCALE, SIZE
from rotajax.render.morphology import DISK
from rotajax.types import Bool

# Outlines are scaled to 0.98 of the bounding sphere; a pixel more is the rounding of their outermost points.
REACH = 0.98 * RADIUS + 1 / SCALE
_DISK = np.zeros((5, 5), np.bool_)
_DISK[tuple(np.array(DISK).T + 2)] = True


def rebuild(target: Bool[np.ndarray, "H W"]) -> Solid:
    """Return a solid with one column a pixel whose whole disk lies in the target, the picture of the pose I.

    Every pixel that a point of the true outline marked is among them; pixels that the closing added may be too. Depths
    are sampled with seed 0: only the ends of a column matter here. Raises ValueError for a picture of another size and
    for one in which no disk fits.
    """
    require(target.shape == (SIZE, SIZE) and target.dtype == np.bool_, "target", "a mask [320, 320]", _kind(target))
    row, column = np.nonzero(ndimage.binary_erosion(target, _DISK, border_value=0))
    points = (np.stack([column, row], axis=1) - CENTRE) / SCALE
    points = points[np.hypot(*points.T) <= REACH]
    require(len(points) > 0, "target", "a silhouette in which a disk of radius 2 fits", "none")
    return make_solid(points, 0)


def _kind(picture: np.ndarray) -> str:
    return f"{picture.dtype}{list(picture.shape)}"
