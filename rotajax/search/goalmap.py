"""The goal map of a solid: for every cell of rotation space, about what IoU with the target it can have.

The silhouette of a pose depends on its view direction alone, but for a turn in the picture and a mirroring. So one
picture a direction, correlated with the target over all rolls on a polar grid, fills the whole of rotation space.
"""

from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from rotajax.devices import spread
from rotajax.geometry.quaternion import multiply, to_matrix
from rotajax.geometry.solid import RADIUS
from rotajax.render.camera import CENTRE, SCALE
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import span_packed
from rotajax.types import Array, Float32, Rotation, UInt8, UInt32

# View directions lie on a square grid of Lambert's equal-area projection of the half sphere: 2.5 degrees a cell.
STEP = 0.0437
REACH = int(np.ceil(np.sqrt(2) / STEP))
SIDE = 2 * REACH + 1
ROLLS = 128
RINGS = 64


@dataclass(frozen=True)
class GoalMap:
    """`table` UInt8[2, SIDE, SIDE, ROLLS]: 255 times the largest IoU estimated in a cell and its 26 neighbours, for
    directions from the front (0) and from the back (1).
    """

    table: np.ndarray

    def bound(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return the table's entries, UInt8[n], for the poses `q` after `start`, quaternions Float[n, 4] and [4]."""
        pad = -len(q) % 4096 if len(q) > 4096 else max(4096 - len(q), 0)
        padded = np.concatenate([q, np.zeros((pad, 4), q.dtype)]).astype(np.float32)
        return np.asarray(_look_up(padded, start.astype(np.float32), self.table))[: len(q)]


def goal_map(skeleton: Skeleton, target: UInt32[Array, "H words"]) -> GoalMap:
    """Return the goal map of a solid, given by its skeleton and its packed target silhouette."""
    return widened(iou_tables(skeleton, target[None])[0])


def iou_tables(skeleton: Skeleton, pictures: UInt32[Array, "k H words"]) -> np.ndarray:
    """Return the IoU, estimated on the polar grid, of a solid's silhouette at every cell's centre with each of some
    packed pictures, Float32[k, 2, SIDE, SIDE, ROLLS]: every direction is drawn once for all of them.
    """
    (rows, columns), poses = _directions()
    reference = np.concatenate([np.asarray(_target_spectrum(picture)) for picture in pictures])
    estimates = spread(_roll_scores)(poses, skeleton, reference)
    tables = np.zeros((len(pictures), 2, SIDE, SIDE, ROLLS), np.float32)
    for k, flip in np.ndindex(tables.shape[:2]):
        tables[k, flip, rows, columns] = estimates[:, 2 * k + flip]
        # Directions (a, b, c) and (-a, -b, c) show the same silhouette: the solid is symmetric in depth.
        tables[k, flip, SIDE - 1 - rows, SIDE - 1 - columns] = estimates[:, 2 * k + flip]
    return tables


def widened(table: np.ndarray) -> GoalMap:
    """Return the goal map of the estimates of `iou_tables` for one picture."""
    widest = ndimage.maximum_filter(table, size=(1, 3, 3, 3), mode=("nearest", "nearest", "nearest", "wrap"))  # type: ignore[arg-type]
    return GoalMap(np.ceil(np.clip(widest, 0, 1) * 255).astype(np.uint8))


def goal_poses(goals: GoalMap, least: float) -> np.ndarray:
    """Return the centres, quaternions Float64[n, 4], of all cells whose entry is at least `least`, an IoU."""
    return cell_poses(*np.nonzero(goals.table >= np.floor(255 * least)))


def cell_poses(flip: np.ndarray, row: np.ndarray, column: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Return the centres, quaternions Float64[n, 4], of cells given by their places in a table."""
    q = multiply(_turn_about_view(roll * (2 * np.pi / ROLLS)), _view_quaternion(row, column))
    w, x, y, z = q.T
    # Undo the half turn about the vertical that brings the back to the front.
    return np.where(flip[:, None] == 1, np.stack([y, -z, -w, x], axis=-1), q)


def _turn_about_view(angle: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(angle)
    return np.stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)], axis=-1)


def _view_quaternion(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return the pose without roll that shows the direction of a grid cell, quaternion Float64[n, 4]."""
    x, y = (column - REACH) * STEP, (row - REACH) * STEP
    sine = np.minimum(np.hypot(x, y) / 2, 1.0)  # of half the angle between the direction and the front
    angle = np.arctan2(y, x)
    return np.stack([np.sqrt(1 - sine**2), np.sin(angle) * sine, -np.cos(angle) * sine, 0 * sine], axis=-1)


@cache
def _directions() -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the cells (row, column) of half the grid and their poses without roll, Float32[n, 3, 3]."""
    grid = np.arange(SIDE) - REACH
    y, x = np.meshgrid(grid * STEP, grid * STEP, indexing="ij")
    radius = np.hypot(x, y)
    half = (y > 0) | ((y == 0) & (x >= 0))
    # One ring of cells past the half sphere, so that every cell on it has all its neighbours.
    rows, columns = np.nonzero(half & (radius <= np.sqrt(2) + 1.5 * STEP))
    return (rows, columns), to_matrix(_view_quaternion(rows, columns))


@cache
def _polar() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return word and bit of the pixel at every (ring, roll) of the polar grid, and the area a sample stands for."""
    radius = (np.arange(RINGS) + 0.5) / RINGS * (RADIUS * SCALE + 2)
    angle = np.arange(ROLLS) * (2 * np.pi / ROLLS)
    u = np.rint(CENTRE + radius[:, None] * np.cos(angle)).astype(np.int32)
    v = np.rint(CENTRE + radius[:, None] * np.sin(angle)).astype(np.int32)
    return v * 10 + (u >> 5), (u & 31).astype(np.uint32), (radius / radius.sum() / ROLLS).astype(np.float32)


def _polar_picture(packed: UInt32[Array, "H words"]) -> Float32[Array, "rings rolls"]:
    word, bit, _ = _polar()
    return ((packed.ravel()[word] >> bit) & jnp.uint32(1)).astype(jnp.float32)


@jax.jit
def _target_spectrum(target: UInt32[Array, "H words"]) -> Array:
    """Return the weighted spectra along the angle of the target and of the target mirrored left to right."""
    picture, weight = _polar_picture(target), jnp.asarray(_polar()[2])[None, :, None]
    mirrored = picture[:, (ROLLS // 2 - np.arange(ROLLS)) % ROLLS]
    return jnp.fft.rfft(jnp.stack([picture, mirrored]) * weight, axis=-1)


def _roll_scores(pose: Rotation, skeleton: Skeleton, reference: Array) -> Float32[Array, "pictures rolls"]:
    """Return the IoU, estimated on the polar grid, of a direction's silhouette at every roll with every picture."""
    picture, weight = _polar_picture(span_packed(skeleton, pose)), jnp.asarray(_polar()[2])
    spectrum = jnp.conj(jnp.fft.rfft(picture, axis=-1))
    common = jnp.fft.irfft(jnp.sum(spectrum[None] * reference, axis=1), ROLLS, axis=-1)
    area = jnp.sum(picture * weight[:, None])
    return common / jnp.maximum(area + reference[:, :, 0].real.sum(axis=1)[:, None] - common, jnp.float32(1e-6))


@jax.jit
def _look_up(q: Float32[Array, "n 4"], start: Float32[Array, "4"], table: UInt8[Array, "2 S S rolls"]) -> Array:
    w, x, y, z = (q[:, k] for k in range(4))
    a, b, c, d = (start[k] for k in range(4))
    w, x, y, z = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    # Seen from the back: turn the solid by half a turn about the vertical; its silhouette is mirrored.
    back = x * x + y * y > w * w + z * z
    w, x, y, z = (jnp.where(back, p, r) for p, r in ((-y, w), (z, x), (w, y), (-x, z)))
    across = jnp.float32(2 / STEP) * jax.lax.rsqrt(jnp.maximum(w * w + z * z, jnp.float32(1e-12)))
    column = jnp.rint((x * z - w * y) * across).astype(jnp.int32) + REACH
    row = jnp.rint((y * z + w * x) * across).astype(jnp.int32) + REACH
    roll = jnp.rint(jnp.arctan2(z, w) * jnp.float32(ROLLS / np.pi)).astype(jnp.int32) % ROLLS
    flat = ((back.astype(jnp.int32) * SIDE + row) * SIDE + column) * ROLLS + roll
    return table.ravel()[flat]
