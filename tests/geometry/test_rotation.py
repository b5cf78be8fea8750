import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import rotation as plain
from rotajax.env.actions import INVERSE
from rotajax.geometry.rotation import ANGLES, DIRECTIONS, MATRICES, compose, rotation, transpose

HALF, ROOT = 0.5, 3**0.5 / 2
# Every action and its inverse from one pose, and a walk over 48 actions, each one program.
there_and_back = jax.jit(
    jax.vmap(
        lambda a, R: compose(jnp.asarray(MATRICES)[jnp.asarray(INVERSE)[a]], compose(jnp.asarray(MATRICES)[a], R)),
        (0, None),
    )
)
walk = jax.jit(
    lambda actions: jax.lax.scan(
        lambda R, a: (compose(jnp.asarray(MATRICES)[a], R), None), jnp.eye(3, dtype=jnp.float32), actions
    )[0]
)


@pytest.mark.parametrize(
    ("direction", "before", "after"),
    [
        ("PITCH_POS", [0, 0, 1], [0, -HALF, ROOT]),  # the front goes up: y points down
        ("PITCH_NEG", [0, 0, 1], [0, HALF, ROOT]),
        ("YAW_POS", [0, 0, 1], [HALF, 0, ROOT]),  # the front goes to the observer's right
        ("YAW_NEG", [0, 0, 1], [-HALF, 0, ROOT]),
        ("ROLL_POS", [1, 0, 0], [ROOT, HALF, 0]),  # the right goes down: clockwise on screen
        ("ROLL_NEG", [1, 0, 0], [ROOT, -HALF, 0]),
    ],
)
def test_a_turn_of_30_degrees_moves_the_front_as_its_name_says(direction, before, after):
    np.testing.assert_allclose(rotation(direction, 30) @ np.array(before), after, atol=1e-7)


def test_the_24_matrices_are_those_of_the_reference_in_order():
    assert MATRICES.shape == (24, 3, 3)
    assert MATRICES.dtype == np.float32
    np.testing.assert_array_equal(MATRICES, plain.MATRICES.astype(np.float32))
    np.testing.assert_array_equal(MATRICES[4 * 3 + 2], rotation("YAW_NEG", 10))
    assert (DIRECTIONS, ANGLES) == (plain.DIRECTIONS, plain.ANGLES)


def test_an_unknown_direction_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^rotation: direction: expected one of PITCH_POS, .*, got 'UP'$"):
        rotation("UP", 30)


def test_products_are_left_after_right_for_one_and_for_many():
    a, b = rotation("YAW_POS", 30), rotation("ROLL_POS", 90)
    np.testing.assert_allclose(compose(jnp.asarray(a), jnp.asarray(b)), a.astype(float) @ b, atol=1e-7)
    many = jax.vmap(compose, (0, None))(jnp.asarray(MATRICES), jnp.asarray(b))
    np.testing.assert_allclose(many, MATRICES.astype(float) @ b.astype(float), atol=1e-7)
    np.testing.assert_array_equal(transpose(jnp.asarray(a)), a.T)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_action_then_its_inverse_restores_the_pose(seed):
    pose = _random(seed)
    back = np.asarray(there_and_back(np.arange(24), pose))
    assert np.abs(back - pose).max() <= 1e-5


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 23), min_size=48, max_size=48))
def test_a_pose_is_still_a_rotation_after_48_random_steps(actions):
    _assert_rotation(_walk(actions))


@pytest.mark.parametrize("action", range(24))
def test_a_pose_is_still_a_rotation_after_48_equal_steps(action):
    # The rounding of one matrix adds up here instead of averaging out.
    pose = _walk([action] * 48)
    _assert_rotation(pose)
    expected = np.linalg.matrix_power(plain.MATRICES[action], 48)
    assert np.abs(pose - expected).max() <= 1e-5


def _walk(actions):
    return np.asarray(walk(np.array(actions, np.int32)))


def _assert_rotation(pose):
    pose = pose.astype(np.float64)
    assert np.abs(pose @ pose.T - np.eye(3)).max() <= 1e-5
    assert abs(np.linalg.det(pose) - 1.0) <= 1e-5


def _random(seed):
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return (q * np.sign(np.linalg.det(q))).astype(np.float32)


@pytest.mark.parametrize("degrees", [float("nan"), float("inf"), -float("inf")])
def test_an_angle_that_is_no_finite_number_is_refused(degrees):
    with pytest.raises(ValueError, match="rotation: degrees: expected a finite number, got "):
        rotation("YAW_POS", degrees)
