import math

import numpy as np
import pytest

from . import rotation

HALF, ROOT = 0.5, math.sqrt(3) / 2


@pytest.mark.parametrize(
    ("direction", "before", "after"),
    [
        ("PITCH_POS", [0, 0, 1], [0, -HALF, ROOT]),  # the front goes up, and y points down
        ("PITCH_NEG", [0, 0, 1], [0, HALF, ROOT]),
        ("YAW_POS", [0, 0, 1], [HALF, 0, ROOT]),  # the front goes right
        ("YAW_NEG", [0, 0, 1], [-HALF, 0, ROOT]),
        ("ROLL_POS", [1, 0, 0], [ROOT, HALF, 0]),  # right goes down: clockwise
        ("ROLL_NEG", [1, 0, 0], [ROOT, -HALF, 0]),
    ],
)
def test_directions(direction, before, after):
    np.testing.assert_allclose(rotation.matrix(direction, 30) @ before, after, atol=1e-15)


def test_the_24_actions_are_distinct_rotations_in_order():
    assert rotation.MATRICES.shape == (24, 3, 3)
    np.testing.assert_array_equal(rotation.MATRICES[4 * 2 + 3], rotation.matrix("YAW_POS", 30))
    np.testing.assert_allclose(rotation.MATRICES @ rotation.MATRICES.transpose(0, 2, 1), [np.eye(3)] * 24, atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(rotation.MATRICES), 1.0)
    assert len({m.tobytes() for m in rotation.MATRICES}) == 24


def test_every_action_is_undone_by_its_inverse():
    for action in range(24):
        there_and_back = rotation.apply(rotation.apply(np.eye(3), action), rotation.inverse(action))
        np.testing.assert_allclose(there_and_back, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("angle", [0.001, 1, 30, 90, 149.5, 179])
def test_both_forms_of_the_angle_agree(angle):
    a = rotation.matrix("PITCH_NEG", 77) @ rotation.matrix("ROLL_POS", 12)
    b = rotation.matrix("YAW_POS", angle) @ a
    assert rotation.angle_deg(a, b) == pytest.approx(angle, abs=1e-10)
    assert rotation.angle_arccos_deg(a, b) == pytest.approx(angle, abs=1e-6)


def test_the_angle_at_its_ends():
    assert rotation.angle_deg(np.eye(3), np.eye(3)) == 0.0
    assert rotation.angle_deg(np.eye(3), rotation.matrix("YAW_POS", 180)) == pytest.approx(180.0, abs=1e-10)
    assert rotation.angle_deg(np.eye(3), rotation.matrix("YAW_POS", 1e-7)) == pytest.approx(1e-7, rel=1e-6)


def test_pose_error_takes_the_nearest_symmetry():
    pose = rotation.matrix("ROLL_POS", 170)
    assert rotation.pose_error_deg(pose, np.eye(3)[None]) == pytest.approx(170.0)
    assert rotation.pose_error_deg(pose, rotation.symmetry_group(2, None)) == pytest.approx(10.0)
    # Order 8 adds multiples of 45: 180 stays the nearest to 170, and to 160.
    assert rotation.pose_error_deg(pose, rotation.symmetry_group(8, None)) == pytest.approx(10.0)
    assert rotation.pose_error_deg(rotation.matrix("ROLL_POS", 160), rotation.symmetry_group(8, None)) == pytest.approx(
        20
    )


def test_a_mirror_axis_lifts_to_a_half_turn_about_it():
    # alpha = 180: the axis is vertical (90 degrees), and yaw by 180 maps x to -x and z to -z.
    group = rotation.symmetry_group(1, 180.0)
    np.testing.assert_allclose(group[1], np.diag([-1.0, 1.0, -1.0]), atol=1e-15)
    assert rotation.pose_error_deg(rotation.matrix("YAW_POS", 175), group) == pytest.approx(5.0)
