"""The visible surface of a solid, for quick auxiliary views: its caps on a lattice, its walls column by column."""

from typing import Any

import numpy as np
from scipy import ndimage

from rotajax.geometry.solid import RADIUS, Solid
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
    wall = xy[_outline(xy)]
    return xy[_one_a_cell(xy, _unrolled(xy))], wall[_one_a_cell(wall, wall)]


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


def _one_a_cell(xy: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the indices of the columns whose places are nearest to the centres of their cells."""
    reach = RADIUS * np.pi / 2
    cell = np.floor((place + reach) / CELL).astype(int)
    distance = ((place + reach - (cell + 0.5) * CELL) ** 2).sum(axis=1)
    number = cell[:, 1] * (int(2 * reach / CELL) + 2) + cell[:, 0]
    order = np.lexsort((distance, number))
    return order[np.diff(number[order], prepend=-1) != 0]


def _outline(xy: np.ndarray) -> np.ndarray:
    """Return which columns have an empty cell beside their own, gaps of a pixel filled."""
    size = int(2 * RADIUS / FINE) + 8
    column, row = (np.floor((xy + RADIUS) / FINE).astype(int) + 3).T
    occupied = np.zeros((size, size), bool)
    occupied[row, column] = True
    square = np.ones((3, 3), bool)
    filled = ndimage.binary_closing(occupied, square) | occupied
    return np.logical_not(ndimage.binary_erosion(filled, square))[row, column]
