import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rotajax.env.actions import ROTATIONS, STOP
from rotajax.env.state import RUNNING, Params
from rotajax.env.step import reset, step
from rotajax.geometry.rotation import compose
from rotajax.render.span import span
from rotajax.tasks.task import Task
from rotajax.train.draw import TURNS_30, draw_start
from rotajax.train.env import advance_many, begin_many
from rotajax.train.picture import small

WEIGHTS = (np.float32(1), np.float32(1), np.float32(1))


@pytest.fixture(scope="module")
def functions(world):
    params = Params(max_decisions=np.int32(6), patience=np.int32(4))
    begin = jax.jit(lambda key: begin_many(key, 4, world, params, memory=3))
    advance = jax.jit(lambda games, actions: advance_many(games, actions, world, params, WEIGHTS))
    return begin, advance, params


def test_games_follow_the_rules_of_the_environment(suite, functions):
    begin, advance, params = functions
    games, _ = begin(jax.random.key(5))
    rng = np.random.default_rng(0)
    reference = []
    for i in range(4):
        solid = jax.tree.map(lambda leaf, i=i: leaf[int(games.icon[i])], suite.tasks.solid)
        group = suite.tasks.group[int(games.icon[i])]
        task = Task(solid=solid, start=np.asarray(games.state.R[i]), group=group)
        reference.append(jax.jit(lambda t: reset(t, params, renderer=span))(task)[0])
    play = jax.jit(lambda s, a: step(s, a, params, renderer=span))
    over = np.zeros(4, bool)
    for _ in range(6):
        actions = rng.integers(0, ROTATIONS, 4).astype(np.int32)
        games, taken = advance(games, actions)
        for i in np.flatnonzero(~over):
            before = reference[i]
            reference[i], seen = play(before, jnp.int32(actions[i]))
            assert int(taken.outcome[i]) == int(reference[i].outcome)
            # Spans of the skeleton against spans of the whole solid.
            assert abs(float(taken.iou[i]) - float(reference[i].iou)) < 0.01
            change = float(reference[i].iou) - float(before.iou) + float(int(taken.outcome[i]) == 1)
            assert abs(float(taken.reward[i]) - change) < 0.02 + 180 / 180
            difference = np.abs(np.asarray(taken.final.current[i], int) - np.asarray(small(seen.current), int))
            assert difference.mean() < 2
            over[i] = int(taken.outcome[i]) != RUNNING
    assert over.all(), "six decisions end every game"


def test_an_ended_game_begins_anew_and_its_last_picture_is_kept(functions):
    begin, advance, _ = functions
    games, seen = begin(jax.random.key(1))
    fresh, taken = advance(games, np.array([STOP, 3, STOP, 7], np.int32))
    assert np.asarray(taken.terminated).tolist() == [True, False, True, False]
    assert not np.asarray(taken.truncated).any()
    assert np.asarray(fresh.state.decisions).tolist() == [0, 1, 0, 1]
    assert np.asarray(fresh.actions)[:, -1].tolist() == [-1, 3, -1, 7]
    # STOP moves nothing: the last picture is the one before.
    np.testing.assert_array_equal(taken.final.current[0], seen.current[0])
    assert (np.asarray(taken.seen.current[0]) != np.asarray(taken.final.current[0])).any()
    np.testing.assert_array_equal(taken.seen.view[1], taken.final.view[1])


def test_the_limit_truncates_and_stagnation_terminates(functions):
    begin, advance, _ = functions
    games, _ = begin(jax.random.key(2))
    outcomes = set()
    for t in range(12):
        games, taken = advance(games, np.array([0, 1, 0, 1], np.int32) ^ (4 * (t % 2)))
        for outcome, terminated, truncated in zip(taken.outcome, taken.terminated, taken.truncated, strict=True):
            assert bool(truncated) == (int(outcome) == 3)
            assert bool(terminated) == (int(outcome) in (1, 2, 4))
            outcomes.add(int(outcome))
    assert outcomes >= {3, 4} or outcomes >= {4}


def test_the_same_key_draws_the_same_games(functions):
    begin, _, _ = functions
    one, other, third = (begin(jax.random.key(k)) for k in (7, 7, 8))
    np.testing.assert_array_equal(one[1].current, other[1].current)
    assert (np.asarray(one[1].current) != np.asarray(third[1].current)).any()


def test_starts_are_sequences_of_30_degree_turns():
    starts = np.asarray(jax.vmap(draw_start)(jax.random.split(jax.random.key(0), 64)))
    np.testing.assert_allclose(starts @ np.swapaxes(starts, 1, 2), np.broadcast_to(np.eye(3), (64, 3, 3)), atol=1e-5)
    assert len({start.round(3).tobytes() for start in starts}) > 55
    # From somewhere within 16 turns back to the target: the first turn undone is again such a pose, of one turn less.
    assert np.allclose(np.asarray(compose(jnp.asarray(TURNS_30[0]), jnp.asarray(TURNS_30[1]))), np.eye(3), atol=1e-6)
