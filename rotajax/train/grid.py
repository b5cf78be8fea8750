"""The grid of poses that beliefs live on: R = Rz(psi) Ry(theta) Rz(phi), nodes in theta, psi and phi.

theta is the tilt of the solid's plane, psi the direction of the tilt on the screen, phi the turn of the icon in its own
plane. Turning the current pictures by d adds d to psi, turning the target by d takes d from phi.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np

from rotajax.env.actions import ROTATIONS
from rotajax.geometry.rotation import MATRICES
from rotajax.types import Array, Float32, Int32, Rotation, struct

# Nodes in degrees: close where the game is decided, at small tilts.
TILTS = (0, 8, 18, 30, 45, 60, 75, 90, 105, 120, 135, 150, 162, 172, 180)
TURNS = 24
CELLS = len(TILTS) * TURNS * TURNS
STEP = 2 * np.pi / TURNS


@struct
class Corners:
    """The eight cells around a pose and its weights on them, which add up to 1."""

    cell: Int32[Array, "*B 8"]
    weight: Float32[Array, "*B 8"]


def euler(R: Float32[Array, "*B 3 3"]) -> tuple[Array, Array, Array]:
    """Return (theta, psi, phi) of poses in radians; where the tilt is 0 or 180 psi is 0 and phi the whole turn."""
    tilt = jnp.sqrt(R[..., 0, 2] * R[..., 0, 2] + R[..., 1, 2] * R[..., 1, 2])
    theta = jnp.arctan2(tilt, R[..., 2, 2])
    flat = tilt < 1e-6
    psi = jnp.where(flat, jnp.float32(0), jnp.arctan2(R[..., 1, 2], jnp.where(flat, jnp.float32(1), R[..., 0, 2])))
    # The second row of Rz(-psi) R is (sin phi, cos phi, 0).
    c, s = jnp.cos(psi), jnp.sin(psi)
    phi = jnp.arctan2(c * R[..., 1, 0] - s * R[..., 0, 0], c * R[..., 1, 1] - s * R[..., 0, 1])
    return theta, psi, phi


def corners(R: Float32[Array, "*B 3 3"]) -> Corners:
    """Return the cells around poses, for labels and for reading a belief between its nodes (linear in each angle)."""
    theta, psi, phi = euler(R)
    nodes = jnp.deg2rad(jnp.asarray(TILTS, jnp.float32))
    low = jnp.clip(jnp.searchsorted(nodes, theta, side="right").astype(jnp.int32) - 1, 0, len(TILTS) - 2)
    part = jnp.clip((theta - nodes[low]) / (nodes[low + 1] - nodes[low]), 0, 1)
    tilts = ((low, jnp.float32(1) - part), (low + 1, part))
    cells, weights = [], []
    for t, a in tilts:
        for p, b in _around(psi):
            for f, c in _around(phi):
                cells.append((t * TURNS + p) * TURNS + f)
                weights.append(a * b * c)
    return Corners(cell=jnp.stack(cells, axis=-1), weight=jnp.stack(weights, axis=-1))


def _around(angle: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    place = angle / jnp.float32(STEP)
    low = jnp.floor(place)
    part, low = place - low, low.astype(jnp.int32)
    return (low % TURNS, jnp.float32(1) - part), ((low + 1) % TURNS, part)


@cache
def poses() -> np.ndarray:
    """Return the pose of every cell, Float32[CELLS, 3, 3]."""
    theta, turn = np.deg2rad(np.array(TILTS, np.float64)), np.arange(TURNS) * STEP
    theta, psi, phi = (v.ravel() for v in np.meshgrid(theta, turn, turn, indexing="ij"))
    return _compose(_about_z(psi), _about_y(theta), _about_z(phi)).astype(np.float32)


@cache
def volumes() -> np.ndarray:
    """Return each cell's share of all rotations, Float32[CELLS], sum 1: the integral of its hat over sin theta."""
    nodes = np.deg2rad(np.array(TILTS, np.float64))
    fine = np.linspace(0, np.pi, 100_001)
    hats = np.stack([np.interp(fine, nodes, row) for row in np.eye(len(nodes))])
    share = np.trapezoid(hats * np.sin(fine), fine, axis=1)
    return np.repeat(share / share.sum() / TURNS**2, TURNS**2).astype(np.float32)


@cache
def angles_deg() -> np.ndarray:
    """Return the angle of every cell's pose from the target, Float32[CELLS], degrees."""
    return _angle_deg(poses())


@cache
def angles_after() -> np.ndarray:
    """Return the angle from the target after each of the 24 rotations, Float32[24, CELLS], degrees."""
    return np.stack([_angle_deg(np.einsum("ij,njk->nik", Q, poses())) for Q in MATRICES])


@cache
def origins() -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of Q(a)^-1 R for each rotation a and cell R, [24, CELLS, 8]: where a belief came from."""
    found = [corners(jnp.asarray(np.einsum("ji,njk->nik", MATRICES[a], poses()))) for a in range(ROTATIONS)]
    return np.stack([np.asarray(c.cell) for c in found]), np.stack([np.asarray(c.weight) for c in found])


def read(values: Float32[Array, "cells"], R: Rotation) -> Float32[Array, ""]:
    """Return a table's value at a pose."""
    at = corners(R)
    return jnp.sum(values[at.cell] * at.weight, dtype=jnp.float32)


def _angle_deg(matrices: np.ndarray) -> np.ndarray:
    cosine = (np.trace(matrices, axis1=1, axis2=2) - 1) / 2
    return np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).astype(np.float32)


def _about_z(angle: np.ndarray) -> np.ndarray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    return np.stack([np.stack(r, -1) for r in ([c, -s, o], [s, c, o], [o, o, o + 1])], -2)


def _about_y(angle: np.ndarray) -> np.ndarray:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    return np.stack([np.stack(r, -1) for r in ([c, o, s], [o, o + 1, o], [-s, o, c])], -2)


def _compose(*matrices: np.ndarray) -> np.ndarray:
    product = matrices[0]
    for matrix in matrices[1:]:
        product = np.einsum("nij,njk->nik", product, matrix)
    return product
