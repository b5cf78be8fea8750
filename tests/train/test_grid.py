import jax
import jax.numpy as jnp
import numpy as np

from rotajax.geometry.quaternion import to_matrix
from rotajax.geometry.rotation import MATRICES
from rotajax.train import grid


def random_poses(count, seed=0):
    q = np.random.default_rng(seed).normal(size=(count, 4))
    return to_matrix(q / np.linalg.norm(q, axis=1, keepdims=True))


def compose(theta, psi, phi):
    def about_z(a):
        return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])

    y = np.array([[np.cos(theta), 0, np.sin(theta)], [0, 1, 0], [-np.sin(theta), 0, np.cos(theta)]])
    return about_z(psi) @ y @ about_z(phi)


def test_angles_give_the_pose_back():
    poses = np.concatenate([random_poses(50), MATRICES, np.eye(3, dtype=np.float32)[None]])
    for R, angles in zip(poses, zip(*map(np.asarray, grid.euler(jnp.asarray(poses))), strict=True), strict=True):
        np.testing.assert_allclose(compose(*angles), R, atol=2e-5)


def test_a_cells_pose_lies_on_its_own_cell_alone():
    away = np.flatnonzero(np.repeat(~np.isin(grid.TILTS, (0, 180)), grid.TURNS**2))[::97]
    at = grid.corners(jnp.asarray(grid.poses()[away]))
    weight = np.zeros((len(away), grid.CELLS), np.float32)
    np.add.at(weight, (np.arange(len(away))[:, None], np.asarray(at.cell)), np.asarray(at.weight))
    np.testing.assert_allclose(weight[np.arange(len(away)), away], 1, atol=1e-3)


def test_weights_add_up_and_volumes_are_shares():
    at = grid.corners(jnp.asarray(random_poses(64)))
    np.testing.assert_allclose(np.asarray(at.weight).sum(axis=1), 1, atol=1e-5)
    assert (np.asarray(at.weight) >= -1e-6).all()
    np.testing.assert_allclose(grid.volumes().sum(), 1, atol=1e-5)


def test_volumes_are_how_often_uniform_poses_fall_there():
    at = jax.jit(grid.corners)(jnp.asarray(random_poses(20_000)))
    found = np.zeros(len(grid.TILTS))
    np.add.at(found, np.asarray(at.cell) // grid.TURNS**2, np.asarray(at.weight))
    expected = grid.volumes().reshape(len(grid.TILTS), -1).sum(axis=1)
    np.testing.assert_allclose(found / 20_000, expected, atol=0.008)


def test_turning_the_pictures_moves_psi_and_turning_the_target_moves_phi():
    step = grid.STEP
    R = np.asarray(compose(0.7, 0.3, -1.1), np.float32)
    turn = np.asarray(compose(0, step, 0), np.float32)
    theta, psi, phi = grid.euler(jnp.asarray(R))
    theta2, psi2, phi2 = grid.euler(jnp.asarray(turn @ R))
    np.testing.assert_allclose([theta2, psi2, phi2], [theta, psi + step, phi], atol=1e-5)
    theta3, psi3, phi3 = grid.euler(jnp.asarray(R @ turn))
    np.testing.assert_allclose([theta3, psi3, phi3], [theta, psi, phi + step], atol=1e-5)


def test_after_an_action_the_angle_is_that_of_the_next_pose():
    cells = np.arange(5, grid.CELLS, 1013)
    for action in (3, 8, 22):
        trace = np.trace(MATRICES[action] @ grid.poses()[cells], axis1=1, axis2=2)
        expected = np.rad2deg(np.arccos(np.clip((trace - 1) / 2, -1, 1)))
        np.testing.assert_allclose(grid.angles_after()[action, cells], expected, atol=0.1)
