from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from reference import rotation
from rotajax.geometry.rotation import DIRECTIONS
from rotajax.tasks.starts import LONGEST, SHORTEST, draw_sequence, inverse_path, opposite, start_pose

DRAWN = [draw_sequence(seed, attempt) for seed in range(1500) for attempt in range(2)]


def test_lengths_are_uniform_from_6_to_16():
    lengths = np.array([len(sequence) for sequence in DRAWN])
    assert (lengths.min(), lengths.max()) == (SHORTEST, LONGEST) == (6, 16)
    assert stats.chisquare(np.bincount(lengths)[6:]).pvalue > 1e-4


def test_no_turn_undoes_the_one_before():
    for sequence in DRAWN:
        assert all(b != opposite(a) for a, b in pairwise(sequence))


def test_directions_are_uniform_among_those_allowed():
    first = [DIRECTIONS.index(sequence[0]) for sequence in DRAWN]
    assert stats.chisquare(np.bincount(first, minlength=6)).pvalue > 1e-4
    for before in range(6):
        after = np.zeros(6)
        for sequence in DRAWN:
            for a, b in pairwise(sequence):
                after[DIRECTIONS.index(b)] += a == DIRECTIONS[before]
        assert after[before ^ 1] == 0
        assert stats.chisquare(np.delete(after, before ^ 1)).pvalue > 1e-4


def test_a_sequence_is_a_function_of_seed_and_attempt():
    assert draw_sequence(7, 0) == draw_sequence(7, 0)
    assert len({tuple(sequence) for sequence in DRAWN}) > 0.98 * len(DRAWN)
    # Written down: frozen suites were drawn so.
    expected = "ROLL_POS PITCH_NEG ROLL_POS PITCH_NEG PITCH_NEG YAW_POS YAW_POS YAW_POS ROLL_NEG YAW_POS ROLL_POS"
    assert draw_sequence(0, 0) == expected.split()


def test_the_pose_is_the_product_of_the_turns_the_last_on_the_left():
    pose = rotation.matrix("ROLL_NEG", 30) @ rotation.matrix("YAW_POS", 30) @ rotation.matrix("PITCH_POS", 30)
    got = start_pose(["PITCH_POS", "YAW_POS", "ROLL_NEG"])
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, pose.astype(np.float32))


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_the_inverse_path_leads_back(number):
    pose = start_pose(DRAWN[number]).astype(np.float64)
    for direction, angle in inverse_path(DRAWN[number]):
        pose = rotation.matrix(direction, angle) @ pose
    np.testing.assert_allclose(pose, np.eye(3), atol=1e-6)
