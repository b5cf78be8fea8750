import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra 'train'")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.wrappers.vector import RecordEpisodeStatistics  # noqa: E402

from rotajax.env.actions import ACTIONS, STOP  # noqa: E402
from rotajax.train.gym import AlignmentEnv, AlignmentVectorEnv  # noqa: E402


@pytest.fixture(scope="module")
def many(suite):
    return AlignmentVectorEnv(suite, 3, memory=2)


def test_one_game_passes_the_checker(suite):
    with warnings.catch_warnings():
        # The checker says that it cannot try render modes of an environment that is not registered: it has none.
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes")
        check_env(AlignmentEnv(suite, memory=2), skip_render_check=False)


def test_observations_lie_in_the_spaces_and_ended_games_keep_their_last(many):
    seen, info = many.reset(seed=3)
    assert many.observation_space.contains(seen)
    assert info["iou"].shape == (3,)
    start = {name: value.copy() for name, value in seen.items()}
    seen, reward, terminated, truncated, info = many.step(np.array([STOP, 2, 5]))
    assert many.observation_space.contains(seen)
    assert reward.dtype == np.float64
    assert terminated.tolist() == [True, False, False]
    assert truncated.tolist() == [False] * 3
    assert info["_final_obs"].tolist() == [True, False, False]
    assert many.single_observation_space.contains(info["final_obs"][0])
    assert info["final_obs"][1] is None
    np.testing.assert_array_equal(info["final_obs"][0]["current"], start["current"][0])
    assert info["final_obs"][0]["actions"].tolist() == [len(ACTIONS), STOP]
    assert seen["actions"].tolist() == [[len(ACTIONS)] * 2, [len(ACTIONS), 2], [len(ACTIONS), 5]]


def test_the_same_seed_gives_the_same_games(many):
    one, _ = many.reset(seed=11)
    first = many.step(np.array([1, 2, 3]))[0]
    other, _ = many.reset(seed=11)
    second = many.step(np.array([1, 2, 3]))[0]
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
        np.testing.assert_array_equal(first[name], second[name])


def test_gymnasiums_own_wrapper_counts_episodes(many):
    counted = RecordEpisodeStatistics(many)
    counted.reset(seed=0)
    counted.step(np.array([0, 0, 0]))
    *_, info = counted.step(np.array([STOP, 0, 0]))
    assert info["_episode"].tolist() == [True, False, False]
    assert info["episode"]["l"][0] == 2


@pytest.mark.parametrize("actions", [[0, 0], [0, 0, 25], [-1, 0, 0]])
def test_wrong_actions_are_refused(many, actions):
    many.reset(seed=0)
    with pytest.raises(ValueError, match="expected 3 indices from 0 to 24"):
        many.step(np.array(actions))
