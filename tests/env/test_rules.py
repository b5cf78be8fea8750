import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import environment
from rotajax.env.actions import STOP
from rotajax.env.rules import judge
from rotajax.env.state import OUTCOMES, RUNNING, Params, first_state

EYE = np.eye(3, dtype=np.float32)
verdict = jax.jit(judge)


def start(iou):
    """A state before the first decision; the rules look neither at the task nor at the pictures."""
    return first_state(None, None, EYE, np.float32(iou), np.int32(RUNNING))


def play(ious, actions=None, params=None):
    """The state at the end of an episode whose start and successors have the given IoUs."""
    state = start(ious[0])
    for t, iou in enumerate(ious[1:]):
        action = np.int32(0 if actions is None else actions[t])
        state = verdict(state, action, EYE, np.float32(iou), params or Params())
        if state.outcome != RUNNING:
            break
    return state


def summary(state):
    return OUTCOMES[state.outcome], int(state.decisions), int(state.steps)


def climb(best, length=60):
    """IoUs that rise at every rotation up to rotation `best` and stay there."""
    return [0.5 + 0.001 * min(t, best) for t in range(length)]


def test_success_at_the_threshold_and_not_below():
    assert summary(play([0.5, 0.8999, 0.9])) == ("success", 2, 2)
    assert summary(play([0.5, np.nextafter(np.float32(0.9), np.float32(0))])) == ("running", 1, 1)


def test_stop_is_a_decision_but_no_rotation():
    state = play([0.5, 0.6, 0.6], [3, STOP])
    assert summary(state) == ("stop", 2, 1)
    assert state.stale == 0
    assert bool(state.terminated)
    assert not bool(state.truncated)


def test_the_limit_cuts_at_48_decisions():
    state = play(climb(60))
    assert summary(state) == ("limit", 48, 48)
    assert bool(state.truncated)
    assert not bool(state.terminated)


def test_stagnation_after_12_rotations_without_a_new_best():
    assert summary(play([0.5] * 60)) == ("stagnation", 12, 12)
    assert summary(play([0.5, *[0.4] * 11, 0.51, *[0.51] * 60])) == ("stagnation", 24, 24)


def test_a_best_must_be_strictly_greater_and_the_start_counts():
    assert summary(play([0.5, 0.3, *[0.4, 0.5] * 30])) == ("stagnation", 12, 12)
    one_more = float(np.nextafter(np.float32(0.5), np.float32(1)))
    assert summary(play([0.5, *[0.5] * 11, one_more, *[one_more] * 60])) == ("stagnation", 24, 24)


def test_where_endings_meet_the_first_of_success_stop_limit_stagnation_is_taken():
    assert summary(play([*climb(47)[:48], 0.95])) == ("success", 48, 48)  # with the limit
    assert summary(play([0.5, *[0.5] * 11, 0.9])) == ("success", 12, 12)  # in the last of the patience
    assert summary(play(climb(60), [0] * 47 + [STOP])) == ("stop", 48, 47)  # with the limit
    assert summary(play(climb(36))) == ("limit", 48, 48)  # with stagnation
    assert summary(play(climb(35))) == ("stagnation", 47, 47)
    both = Params(max_decisions=np.int32(12))
    assert summary(play([0.5] * 60, params=both)) == ("limit", 12, 12)


def test_the_numbers_are_parameters():
    strict = Params(success_iou=np.float32(0.95), max_decisions=np.int32(5), patience=np.int32(3))
    assert summary(play([0.5, 0.9, 0.94, 0.95], params=strict)) == ("success", 3, 3)
    assert summary(play(climb(60), params=strict)) == ("limit", 5, 5)
    assert summary(play([0.5] * 60, params=strict)) == ("stagnation", 3, 3)


def test_the_state_remembers_what_policies_look_at():
    state = play([0.5, 0.7, 0.6], [9, 20])
    assert (state.previous_iou, state.iou, state.best_iou) == (np.float32(0.7), np.float32(0.6), np.float32(0.7))
    assert (state.last_action, state.stale) == (20, 1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.89, 0.9]), min_size=60, max_size=60),
    st.sampled_from([0, 0, 0, 40, 47, 55]),
    st.booleans(),
)
def test_any_sequence_ends_as_in_the_reference(ious, stop, rising):
    if rising:  # long episodes as well: random values alone stagnate early
        ious = sorted(0.8 * v + 0.001 * t for t, v in enumerate(ious))
    ious[0] = min(ious[0], 0.89)
    actions = [STOP if stop and t == stop else t % 24 for t in range(60)]
    if stop:
        ious[stop + 1] = ious[stop]
    values, moves = iter(ious), iter(actions)
    # float32 on both sides: a threshold of 0.9 must be the same number.
    plain = environment.play(
        np.eye(3),
        lambda turn, rng: next(moves),
        np.random.default_rng(0),
        lambda pose: next(values),
        lambda pose: 1.0,
    )
    assert summary(play(ious, actions)) == (plain.outcome, len(plain.actions), plain.steps)


def test_flags_are_set_only_at_an_end():
    state = start(0.5)
    assert not bool(state.terminated)
    assert not bool(state.truncated)
    assert state.truncated.dtype == jnp.bool_
