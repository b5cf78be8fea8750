import numpy as np
import pytest

from . import environment, rotation

RNG = np.random.default_rng(0)
EYE = np.eye(3)


def scripted(ious):
    """An IoU callback that returns the given values one after the other, whatever the pose."""
    values = iter(ious)
    return lambda pose: next(values)


def play(ious, policy=lambda turn, rng: 0):
    return environment.play(EYE, policy, RNG, scripted(ious), lambda pose: 1.0)


def test_success_is_reached_at_the_threshold():
    episode = play([0.5, 0.8999, 0.9])
    assert (episode.outcome, episode.steps, episode.ious[-1]) == ("success", 2, 0.9)


def test_stop_is_a_decision_but_no_step():
    actions = iter([3, rotation.STOP])
    episode = play([0.5, 0.6], lambda turn, rng: next(actions))
    assert (episode.outcome, episode.steps, len(episode.actions)) == ("stop", 1, 2)
    assert episode.ious == [0.5, 0.6, 0.6]


def test_twelve_rotations_without_a_new_best_end_it():
    assert (play([0.5] * 50).outcome, play([0.5] * 50).steps) == ("stagnation", 12)
    assert play([0.5, 0.4, 0.5, 0.51] + [0.51] * 50).steps == 3 + 12


def test_forty_eight_decisions_end_it():
    episode = play([0.5 + 0.001 * t for t in range(60)])
    assert (episode.outcome, episode.steps, len(episode.poses)) == ("limit", 48, 49)


def test_the_limit_counts_where_it_meets_stagnation():
    # The last new best comes with rotation 36: twelve more without one are the 48th.
    assert play([0.5 + 0.001 * min(t, 36) for t in range(60)]).outcome == "limit"
    assert play([0.5 + 0.001 * min(t, 35) for t in range(60)]).outcome == "stagnation"


def test_rollback_undoes_a_rotation_that_lowered_the_iou():
    episode = play([0.5, 0.4, 0.5, 0.5] + [0.6, 0.55] * 30, environment.random_rollback)
    undone = [t for t in range(1, episode.steps) if episode.ious[t] < episode.ious[t - 1]]
    assert undone[:2] == [1, 5]
    for t in undone:
        assert episode.actions[t] == rotation.inverse(episode.actions[t - 1])


def test_uniform_random_draws_rotations_only():
    drawn = np.bincount([environment.uniform_random(None, RNG) for _ in range(24_000)], minlength=25)
    assert drawn[24] == 0
    assert drawn[:24] == pytest.approx(1000, abs=160)  # five standard deviations


def test_greedy_policies_take_the_best_successor():
    start = rotation.matrix("YAW_POS", 31)

    def error(pose):
        return rotation.angle_deg(pose, EYE)

    def iou(pose):
        return max(0.0, 0.95 - error(pose) / 100.0)

    for policy in (environment.pose_greedy, environment.iou_greedy):
        episode = environment.play(start, policy, RNG, iou, error)
        assert (episode.outcome, episode.actions) == ("success", [4 * 3 + 3])
        assert episode.pose_errors[-1] == pytest.approx(1.0)


def test_greedy_takes_the_lowest_index_on_ties_and_moves_even_if_worse():
    episode = environment.play(EYE, environment.iou_greedy, RNG, lambda pose: 0.5, lambda pose: 1.0)
    assert (episode.outcome, episode.actions) == ("stagnation", [0] * 12)
    # From the target itself every rotation is worse: the smallest turn, of the lowest index, is taken.
    turn = environment.Turn(
        EYE, 0.5, None, None, None, lambda pose: round(rotation.angle_deg(pose, EYE), 9), rotation.apply
    )
    assert environment.pose_greedy(turn, RNG) == 0
