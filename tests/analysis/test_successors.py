import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from reference import rotation
from rotajax.analysis.decomposition import TOLERANCE_DEG, decompose, target_quaternions
from rotajax.analysis.successors import successor_errors
from rotajax.geometry.symmetry import Symmetry, group

GROUPS = np.stack([group(Symmetry(*s)) for s in [(1, None), (1, 0.0), (2, 10.0), (6, None), (12, 7.0)]])


def test_equals_the_plain_reading_and_the_decomposition():
    rng = np.random.default_rng(0)
    count = 60
    task, action = rng.integers(0, len(GROUPS), count), rng.integers(0, 24, count)
    pose = Rotation.random(count, random_state=1).as_matrix().astype(np.float32)
    errors = successor_errors(pose, task, GROUPS)
    assert errors.shape == (count, 24)
    for i in range(0, count, 6):
        plain = [
            rotation.pose_error_deg(rotation.apply(pose[i].astype(np.float64), a), GROUPS[task[i]]) for a in range(24)
        ]
        assert errors[i] == pytest.approx(plain, abs=TOLERANCE_DEG)
    split = decompose(pose, action, task, GROUPS)
    assert (errors[np.arange(count), action] == split.error_after).all()
    assert (split.effective == (errors.reshape(-1, 6, 4).min(axis=2)[np.arange(count), action // 4]
                                < split.error_before - TOLERANCE_DEG)).all()  # fmt: skip


def test_padding_changes_nothing():
    assert [len(target_quaternions(each)) for each in GROUPS] == [1, 2, 4, 6, 24]
    assert len(target_quaternions(np.eye(3, dtype=np.float32)[None])) == 1


def test_no_states():
    assert successor_errors(np.zeros((0, 3, 3)), np.zeros(0, int), GROUPS).shape == (0, 24)
