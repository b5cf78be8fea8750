import math

import numpy as np
import pytest

from . import rotation
from .decomposition import decompose, rates

IDENTITY = np.eye(3)[None]
YAW_POS, YAW_NEG = 8, 12  # index of the 1 degree turn


def test_angles_of_an_effective_direction():
    pose = rotation.matrix("YAW_POS", 12)  # 1, 5, 10, 30 back leave 11, 7, 2, 18
    for k, (best, gap, loss) in enumerate([(False, 9, 9), (False, 5, 5), (True, 0, 0), (False, 20, 16)]):
        row = decompose(pose, YAW_NEG + k, IDENTITY)
        assert row.effective
        assert (row.best, row.gap_deg) == (best, gap)
        assert row.loss_deg == pytest.approx(loss, abs=1e-9)


def test_a_direction_away_from_the_target_is_not_effective():
    row = decompose(rotation.matrix("YAW_POS", 12), YAW_POS + 3, IDENTITY)
    assert (row.effective, row.best, row.gap_deg, row.loss_deg) == (False, None, None, None)


def test_a_direction_is_effective_even_where_the_chosen_angle_overshoots():
    row = decompose(rotation.matrix("YAW_POS", 4), YAW_NEG + 3, IDENTITY)  # 3, 1, 6, 26: worse than 4
    assert (row.effective, row.best, row.gap_deg) == (True, False, 25)
    assert row.loss_deg == pytest.approx(25)


def test_ties_are_all_best_and_the_gap_is_to_the_nearest():
    pose = rotation.matrix("YAW_POS", 20)  # 10 and 30 back both leave 10
    assert [decompose(pose, YAW_NEG + k, IDENTITY).best for k in range(4)] == [False, False, True, True]
    assert [decompose(pose, YAW_NEG + k, IDENTITY).gap_deg for k in range(4)] == [9, 5, 0, 0]


def test_the_symmetry_decides_which_angle_is_best():
    pose = rotation.matrix("YAW_POS", 170)  # on by 10: 180 from the identity, 0 from the half turn about the y axis
    assert not decompose(pose, YAW_POS + 2, IDENTITY).best
    assert decompose(pose, YAW_POS + 3, IDENTITY).best  # 200 is 160 the other way round
    assert decompose(pose, YAW_POS + 2, rotation.symmetry_group(1, 180.0)).best


def test_rates_pool_the_rotations():
    pose = rotation.matrix("YAW_POS", 12)
    rows = [decompose(pose, action, IDENTITY) for action in (YAW_NEG + 2, YAW_NEG + 3, YAW_POS, YAW_POS + 1)]
    assert rates(rows) == pytest.approx(
        {
            "effective_direction_pct": 50.0,
            "best_legal_angle_pct": 50.0,
            "angle_gap_deg": 10.0,
            "angle_loss_deg": 8.0,
        }
    )
    assert math.isnan(rates(rows[2:])["angle_gap_deg"])
