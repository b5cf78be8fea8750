import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from reference import decomposition as reference
from reference import rotation
from rotajax.analysis.decomposition import TOLERANCE_DEG, decompose, errors_deg
from rotajax.env.actions import STOP, action_index
from rotajax.geometry.quaternion import from_matrix
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.geometry.symmetry import Symmetry, group

NONE = group(Symmetry(1))
GROUPS = np.stack([NONE, *(group(Symmetry(*s)) for s in [(1, 0.0), (2, None), (2, 10.0), (4, 0.0), (6, None)])])


def one(pose, direction, angle, symmetries=NONE):
    action, pose = np.array([action_index(direction, angle)]), np.asarray(pose, np.float32)[None]
    return decompose(pose, action, np.zeros(1, int), symmetries[None])


def test_equals_the_plain_reading_on_random_steps():
    rng = np.random.default_rng(0)
    count = 600
    task, action = rng.integers(0, len(GROUPS), count), rng.integers(0, 24, count)
    near = Rotation.from_rotvec(rng.normal(size=(count, 3)) * np.radians(8)).as_matrix()
    target = GROUPS[task, rng.integers(0, 24, count)].astype(np.float64)
    far = Rotation.random(count, random_state=1).as_matrix()
    pose = np.where(rng.random(count)[:, None, None] < 0.4, near @ target, far).astype(np.float32)
    ours = decompose(pose, action, task, GROUPS)
    for i in range(count):
        plain = reference.decompose(pose[i], int(action[i]), GROUPS[task[i]])
        assert ours.effective[i] == plain.effective
        assert ours.best_legal[i] == bool(plain.best)
        if plain.effective:
            assert ours.angle_gap[i] == plain.gap_deg
            assert ours.angle_loss[i] == pytest.approx(plain.loss_deg, abs=2e-5)
        else:
            assert np.isnan(ours.angle_gap[i])
            assert np.isnan(ours.angle_loss[i])
        after = rotation.pose_error_deg(rotation.apply(pose[i].astype(np.float64), int(action[i])), GROUPS[task[i]])
        assert ours.error_after[i] == pytest.approx(after, abs=2e-5)
        assert ours.improving[i] == (after < rotation.pose_error_deg(pose[i], GROUPS[task[i]]))


@pytest.mark.parametrize("walk", [0, 40])
def test_a_tie_is_a_tie_also_after_many_float32_rotations(walk):
    pose = rotation.matrix("YAW_POS", 20).astype(np.float32)  # 10 and 30 back both leave 10
    there = np.random.default_rng(3).integers(0, 24, walk)
    for action in [*there, *(4 * ((a // 4) ^ 1) + a % 4 for a in there[::-1])]:
        pose = np.asarray(compose(MATRICES[action], pose))
    for angle, best, gap in [(1, False, 9), (5, False, 5), (10, True, 0), (30, True, 0)]:
        step = one(pose, "YAW_NEG", angle)
        assert (step.effective[0], step.best_legal[0], step.angle_gap[0]) == (True, best, gap)


def test_a_turn_by_a_symmetry_changes_nothing():
    # Order 12: 30 degrees of roll are a symmetry, so they neither reduce the error nor make the direction effective.
    pose = rotation.matrix("PITCH_POS", 10).astype(np.float32)
    symmetries = group(Symmetry(12, 7.0))
    step = one(pose, "ROLL_POS", 30, symmetries)
    assert abs(step.error_after[0] - step.error_before[0]) < TOLERANCE_DEG
    assert not step.effective[0]
    assert not step.improving[0]


def test_an_effective_direction_whose_angle_overshoots_does_not_improve():
    step = one(rotation.matrix("YAW_POS", 4), "YAW_NEG", 30)
    assert (step.effective[0], step.improving[0], step.angle_gap[0]) == (True, False, 25)
    assert step.angle_loss[0] == pytest.approx(25, abs=1e-4)


def test_errors_keep_their_digits_from_0_to_180_degrees():
    for degrees in (0.0, 1e-6, 1e-3, 90.0, 179.999, 180.0):
        pose = from_matrix(rotation.matrix("PITCH_NEG", degrees)[None])
        assert errors_deg(pose, from_matrix(np.eye(3)[None])) == pytest.approx([degrees], abs=1e-9)


def test_no_steps_and_stop():
    empty = decompose(np.zeros((0, 3, 3)), np.zeros(0, int), np.zeros(0, int), NONE[None])
    assert len(empty.effective) == 0
    with pytest.raises(ValueError, match="actions: expected rotations, 0 to 23"):
        decompose(np.eye(3)[None], np.array([STOP]), np.zeros(1, int), NONE[None])
