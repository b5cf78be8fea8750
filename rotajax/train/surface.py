"""The visible surface of a solid, for quick auxiliary views: its caps on a lattice, its walls column by column."""

from typing import Any

import numpy as np

from rotajax.geometry.solid import RADIUS, Solid
from rotajax.render.skeleton import of_outline, one_a_block
from rotajax.types import Array, Float32, Int32, struct

# Under three pixels of the auxiliary view (0.22 a pixel): the disk that every mark becomes fills the gaps between.
CELL = 0.55
# The lattice on which the outline is found: about a pixel.
FINE = 0.2
CHUNK = 512


@struct
class Surface:
    """Columns (x, y), in solid units, padded with zeros: one a cell for the caps, the outline's for the walls."""

    cap_x: Float32[Array, "*B C"]
    cap_y: Float32[Array, "*B C"]
    caps: Int32[Array, "*B"]
    wall_x: Float32[Array, "*B W"]
    wall_y: Float32[Array, "*B W"]
    walls: Int32[Array, "*B"]


def surface(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of the caps and those of the walls of one solid, Float32[n, 2] each; host code."""
    count = int(solid.count)
    xy = np.stack([np.asarray(solid.x)[:count], np.asarray(solid.y)[:count]], axis=1)
    wall = xy[of_outline(xy[:, 0], xy[:, 1], FINE, 1)]
    return xy[_one_a_cell(_unrolled(xy))], wall[_one_a_cell(wall)]


def surfaces(solids: list[Solid]) -> Surface:
    """Return the surfaces of many solids, padded to one size; host code."""
    parts = [surface(solid) for solid in solids]

    def padded(which: int) -> tuple[Any, Any]:
        columns = [part[which] for part in parts]
        size = -(-max(len(c) for c in columns) // CHUNK) * CHUNK
        grid = np.zeros((len(columns), size, 2), np.float32)
        for row, filled in zip(grid, columns, strict=True):
            row[: len(filled)] = filled
        return grid, np.array([len(c) for c in columns], np.int32)

    (cap, caps), (wall, walls) = padded(0), padded(1)
    return Surface(
        cap_x=cap[..., 0], cap_y=cap[..., 1], caps=caps, wall_x=wall[..., 0], wall_y=wall[..., 1], walls=walls
    )


def _unrolled(xy: np.ndarray) -> np.ndarray:
    """Return the places of the caps' points on a map of the half sphere that keeps the distance to its centre."""
    radius = np.maximum(np.linalg.norm(xy, axis=1, keepdims=True), 1e-6)
    return xy * (RADIUS * np.arcsin(np.minimum(radius / RADIUS, 1)) / radius)


def _one_a_cell(place: np.ndarray) -> np.ndarray:
    """Return which places are the nearest to the centre of their cell; the unrolled map is the wider one."""
    return one_a_block(place[:, 0], place[:, 1], CELL, reach=RADIUS * np.pi / 2)
