from itertools import product

import numpy as np
import pytest

from reference import rotation
from rotajax.env.actions import INVERSE, action_index
from rotajax.geometry.quaternion import angle_deg, from_matrix, inverse, to_matrix
from rotajax.geometry.rotation import DIRECTIONS
from rotajax.search.words import fingerprints, words

TURNS = tuple(action_index(direction, 30) for direction in DIRECTIONS)
TABLE = words(4)


def product_of(word):
    """The rotation of a word, float64 [3, 3], by the reference, the first action on the right."""
    R = np.eye(3)
    for action in word:
        R = rotation.apply(R, action)
    return R


def test_the_sizes_are_those_written_down():
    assert TABLE.first == (0, 1, 25, 487, 9271, 176131)
    assert TABLE.longest == 4
    assert words(3, TURNS).first[-1] == 187
    # 36 pairs of turns, less the 6 that cancel; no two of the others are one, for different axes do not commute.
    assert words(2, TURNS).first == (0, 1, 7, 37)
    assert len(TABLE.q) == len(TABLE.parent) == len(TABLE.action) == 176131


@pytest.mark.parametrize("longest", [0, 1])
def test_short_tables(longest):
    table = words(longest)
    assert (table.longest, len(table.q)) == (longest, [1, 25][longest])
    assert table.word(0) == []


def test_every_word_multiplies_to_its_rotation():
    rng = np.random.default_rng(0)
    for length in range(5):
        rows = range(*TABLE.level(length).indices(len(TABLE.q)))
        for row in rng.choice(rows, min(60, len(rows)), replace=False):
            word = TABLE.word(int(row))
            assert len(word) == length
            np.testing.assert_allclose(to_matrix(TABLE.q[row]), product_of(word), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(TABLE.q, axis=1), 1, atol=1e-12)


def test_no_row_up_to_length_2_has_a_shorter_word_and_none_is_missing():
    """Brute force over every word, rotations told apart by their angle: no fingerprints."""
    found = np.zeros((0, 4))
    for length in range(3):
        q = from_matrix(np.stack([product_of(word) for word in product(range(24), repeat=length)]))
        new = []
        for one in q:
            known = np.concatenate([found, np.array(new).reshape(-1, 4)])
            if len(known) == 0 or angle_deg(known, one[None]).min() > 1e-4:
                new.append(one)
        level = TABLE.q[TABLE.level(length)]
        assert len(level) == len(new)
        assert max(angle_deg(level, one[None]).min() for one in new) < 1e-5
        found = np.concatenate([found, np.array(new)])


def test_no_longer_row_is_reached_by_a_word_of_up_to_two():
    rng = np.random.default_rng(1)
    short = TABLE.q[: TABLE.first[3]]
    for row in rng.integers(TABLE.first[3], len(TABLE.q), 300):
        assert angle_deg(short, TABLE.q[row][None]).min() > 1e-4


def test_rotations_are_apart_and_closed_under_the_inverse():
    hashes = fingerprints(TABLE.q)
    assert len(np.unique(hashes)) == len(hashes)
    # The inverse of a word of some length is a word of that length.
    for length in range(4):
        level = TABLE.q[TABLE.level(length)]
        assert set(fingerprints(inverse(level))) == set(fingerprints(level))
    assert TABLE.word(5) == [4]
    row = int(np.flatnonzero(fingerprints(TABLE.q) == fingerprints(inverse(TABLE.q[5:6])))[0])
    assert TABLE.word(row) == [INVERSE[4]]


def test_a_quaternion_and_its_negative_are_one_rotation():
    rng = np.random.default_rng(2)
    q = rng.normal(size=(2000, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    # Half turns and axes: components that are zero but for rounding, of either sign.
    half = np.array([[0, 1, 0, 0], [1e-17, 0.6, 0.8, 0], [-1e-17, -0.6, -0.8, 0], [0.0, -0.6, -0.8, 1e-16]])
    np.testing.assert_array_equal(fingerprints(q), fingerprints(-q))
    np.testing.assert_array_equal(fingerprints(half), fingerprints(-half))
    assert len(np.unique(fingerprints(half))) == 2
    assert len(np.unique(fingerprints(q))) == len(q)


def test_thirty_degree_turns_hold_no_other_action():
    table = words(3, TURNS)
    assert set(table.action[1:]) == set(TURNS)
    # A quarter turn takes three.
    quarter = from_matrix(rotation.matrix("YAW_POS", 90))
    row = int(np.argmin(angle_deg(table.q, quarter[None])))
    assert table.word(row) == [action_index("YAW_POS", 30)] * 3
