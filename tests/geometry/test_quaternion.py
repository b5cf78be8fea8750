import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import shapes
from reference import rotation
from rotajax.env.actions import ACTIONS
from rotajax.geometry.quaternion import angle_deg, from_matrix, inverse, multiply, to_matrix

AXES = st.tuples(*[st.floats(-1, 1) for _ in range(3)]).filter(lambda axis: np.linalg.norm(axis) > 1e-3)
DEGREES = st.floats(-360, 360)


def same_rotation(a, b, atol):
    assert np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max() <= atol


@given(AXES, DEGREES)
@example((1.0, 0.0, 0.0), 180.0)
@example((0.0, 1.0, 0.0), 180.0)
@example((0.0, 0.0, 1.0), -180.0)
@example((1.0, 1.0, 1.0), 120.0)
@example((0.0, 0.0, 1.0), 0.0)
def test_matrices_and_quaternions_are_each_other_s(axis, degrees):
    R = shapes.about(axis, degrees)
    q = from_matrix(R)
    assert q.dtype == np.float64
    assert q[0] >= 0
    assert abs(np.linalg.norm(q) - 1) < 1e-12
    back = to_matrix(q)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, R, atol=1e-6)
    # The definition: cosine and sine of half the angle, along the axis.
    half = np.radians(degrees) / 2
    expected = np.array([np.cos(half), *(np.sin(half) * np.asarray(axis) / np.linalg.norm(axis))])
    same_rotation(q, expected, 1e-7)


@given(AXES, DEGREES, AXES, DEGREES)
def test_products_and_inverses_are_those_of_matrices(axis, degrees, other, more):
    A, B = shapes.about(axis, degrees), shapes.about(other, more)
    a, b = from_matrix(A), from_matrix(B)
    np.testing.assert_allclose(to_matrix(multiply(a, b)), A @ B, atol=1e-6)
    np.testing.assert_allclose(to_matrix(inverse(a)), A.T, atol=1e-6)
    same_rotation(multiply(a, inverse(a)), np.array([1.0, 0, 0, 0]), 1e-12)


@given(AXES, st.floats(0, 180), AXES, DEGREES)
def test_the_angle_between_rotations_is_the_turn_that_leads_from_one_to_the_other(axis, degrees, other, more):
    B = shapes.about(other, more)
    a, b = from_matrix(shapes.about(axis, degrees) @ B), from_matrix(B)
    angles = angle_deg(np.stack([a, -a, b, -b]), b)
    np.testing.assert_allclose(angles, [degrees, degrees, 0, 0], atol=1e-5)
    assert (angles[2:] == 0).all()


def test_small_angles_are_exact():
    one = np.array([1.0, 0, 0, 0])
    for degrees in (1e-9, 1e-6, 1e-3):
        half = np.radians(degrees) / 2
        assert abs(angle_deg(np.array([[np.cos(half), np.sin(half), 0, 0]]), one)[0] / degrees - 1) < 1e-6


def test_many_at_once_broadcast_and_actions_are_those_of_the_reference():
    R = np.stack([rotation.matrix(*action) for action in ACTIONS[:24]])
    q = from_matrix(R)
    assert q.shape == (24, 4)
    grid = multiply(q[:, None], q[None])
    assert grid.shape == (24, 24, 4)
    np.testing.assert_allclose(to_matrix(grid), R[:, None] @ R[None], atol=1e-6)
    np.testing.assert_allclose(angle_deg(q, np.array([1.0, 0, 0, 0])), [angle for _, angle in ACTIONS[:24]], atol=1e-9)
