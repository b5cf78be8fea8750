import numpy as np
import pytest

from reference import rotation
from rotajax.env.actions import ACTIONS, INVERSE, ROTATIONS, STOP, Action, action_index


def test_the_vocabulary_is_24_rotations_in_the_order_of_the_reference_and_stop():
    assert len(ACTIONS) == 25
    assert ACTIONS[:ROTATIONS] == tuple((d, a) for d in rotation.DIRECTIONS for a in rotation.ANGLES)
    assert ACTIONS[STOP] == ("STOP", 0)
    assert STOP == rotation.STOP == 24


def test_every_index_is_found_again_by_name():
    assert [action_index(*action) for action in ACTIONS] == list(range(25))
    assert action_index("STOP") == STOP
    assert action_index("ROLL_NEG", 30) == 23


def test_inverses_are_the_other_sign_by_the_same_angle():
    assert INVERSE.tolist() == [*(rotation.inverse(a) for a in range(24)), STOP]
    assert ACTIONS[INVERSE[action_index("PITCH_POS", 5)]] == Action("PITCH_NEG", 5)
    np.testing.assert_array_equal(INVERSE[INVERSE], np.arange(25))


@pytest.mark.parametrize(
    ("direction", "angle", "message"),
    [
        ("TILT", 5, "action: direction: expected one of PITCH_POS, PITCH_NEG, .*, STOP, got 'TILT'"),
        ("YAW_POS", 7, r"action: angle: expected one of \(1, 5, 10, 30\) degrees, got 7"),
        ("YAW_POS", 0, r"action: angle: expected one of \(1, 5, 10, 30\) degrees, got 0"),
        ("yaw_pos", 5, "action: direction: expected one of .*, got 'yaw_pos'"),
    ],
)
def test_what_is_not_in_the_vocabulary_is_refused_by_name(direction, angle, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        action_index(direction, angle)
