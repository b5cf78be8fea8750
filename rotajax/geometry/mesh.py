"""`surface`: the closed triangular surface of a solid, oriented outwards (Appendix F)."""

import dataclasses

import numpy as np
from scipy.ndimage import distance_transform_edt

from rotajax.checks import require
from rotajax.geometry.solid import BUCKETS, RADIUS, Solid

SPACING = 0.75
# Cells of the outline's own picture a grid step: fine enough that columns closer than a step stay apart.
_FINE = 6
# A solid of so many columns was thinned out (Appendix G): its columns leave gaps of up to three pixels.
_THINNED = 90_000


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Triangles of a surface; corners run anticlockwise when seen from outside."""

    vertices: np.ndarray  # float64 [V, 3], solid units
    faces: np.ndarray  # int32 [F, 3], rows of vertices

    @property
    def corners(self) -> np.ndarray:
        """The corners of every triangle, float64 [F, 3, 3]."""
        return self.vertices[self.faces]

    @property
    def centroids(self) -> np.ndarray:
        """The mean of the corners, float64 [F, 3]."""
        return self.corners.mean(axis=1)

    @property
    def crosses(self) -> np.ndarray:
        """The outward normals, as long as twice the area, float64 [F, 3]."""
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return np.cross(b - a, c - a)

    @property
    def areas(self) -> np.ndarray:
        """The area of every triangle, float64 [F]."""
        return np.linalg.norm(self.crosses, axis=1) / 2.0


def surface(solid: Solid, *, spacing: float = SPACING) -> Mesh:
    """Return the surface of one solid by marching cubes at a grid spacing in solid units.

    The field is the smaller of two signed distances: to the outline in the plane, and to the sphere (Equation 5), so
    that surfaces lie between grid points and areas are those of the shape, not of its cubes. Raises ValueError for a
    spacing that is not in [0.25, 4], and for a solid that falls between the grid's points.
    """
    # Slow to import, and needed by nobody who only plays.
    from skimage.measure import marching_cubes

    require(0.25 <= spacing <= 4.0, "surface: spacing", "0.25 to 4 solid units", spacing)
    x, y = (np.asarray(c, np.float64)[: int(solid.count)] for c in (solid.x, solid.y))
    require(x.ndim == 1 and 0 < len(x) <= BUCKETS[-1], "surface: solid", "one solid with columns", np.shape(solid.x))
    # One more grid point than the sphere needs on every side: the surface closes inside the grid.
    half = int(np.ceil(RADIUS / spacing)) + 1
    plane = _outline_distance(x, y, spacing, half)
    axis = spacing * np.arange(-half, half + 1)
    square = axis * axis
    sphere = RADIUS - np.sqrt(square[:, None, None] + square[:, None] + square)
    field = np.minimum(plane[:, :, None], sphere)
    require(bool(field.max() > 0), "surface: solid", f"one wider than the grid spacing {spacing} somewhere", "none")
    # A grid point exactly on the surface would give triangles without area.
    field[np.abs(field) < 1e-6] = 1e-6
    vertices, faces, _, _ = marching_cubes(field, 0.0, spacing=(spacing,) * 3, gradient_direction="ascent")
    return Mesh(vertices.astype(np.float64) - half * spacing, faces.astype(np.int32))


def _outline_distance(x: np.ndarray, y: np.ndarray, spacing: float, half: int) -> np.ndarray:
    """Return the signed distance to the outline, positive inside, on the grid points, indexed [x, y]."""
    cell, middle = spacing / _FINE, half * _FINE
    empty = np.ones((2 * middle + 1,) * 2, np.bool_)
    empty[np.rint(x / cell).astype(int) + middle, np.rint(y / cell).astype(int) + middle] = False
    pitch = _pitch(x, y)
    # Columns stand for pixels: what is closer together than their pitch is one piece (a closing by a disk).
    reach = (2.0 if len(x) >= _THINNED else 1.0) * pitch
    outside = cell * np.asarray(distance_transform_edt(empty))
    near = outside < reach
    inside = cell * np.asarray(distance_transform_edt(near)) - reach
    # A column is the middle of its pixel: the outline runs half a pitch outside the outermost ones.
    return (np.where(near, inside, -outside) + pitch / 2.0)[::_FINE, ::_FINE]


def _pitch(x: np.ndarray, y: np.ndarray) -> float:
    """Return the distance between neighbouring columns of the lattice that an icon's pixels form."""
    gaps = np.concatenate([np.diff(np.unique(c)) for c in (x, y)])
    return float(np.median(gaps)) if len(gaps) else SPACING / _FINE
