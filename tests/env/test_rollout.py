import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import environment, renderer, rotation
from rotajax.devices import batch_map, device_mesh
from rotajax.env.rollout import Episodes, episode, rollout
from rotajax.env.state import OUTCOMES, Params
from rotajax.env.step import Move, as_move, moved, reset, step
from rotajax.policies.baseline import random_rollback
from rotajax.render.splat import splat
from rotajax.tasks.starts import draw_sequence, start_pose

KEY = jax.random.key(3)
FIRST = device_mesh((jax.devices()[0],))
# Coarse solids: NumPy draws them in milliseconds.
SOLIDS = [(shapes.letter, 1, None), (shapes.bar, 2, 0.0), (shapes.ring, 1, 180.0)]


def task(number, keep, order, mirror):
    seed = 100 + number
    start = start_pose(draw_sequence(seed, 0))
    solid = shapes.solid_of(keep, seed, step=0.7771)
    return shapes.Task(solid=solid, start=start, group=shapes.padded_group(order, mirror))


TASKS = [task(k, *row) for k, row in enumerate(SOLIDS)]
BATCH = jax.tree.map(lambda *leaves: np.stack(leaves), *TASKS)


def rollback_or_stop(key, state):
    """Random with rollback, but in the second task STOP at the fourth decision: one program for every test here."""
    stops = (state.decisions == 3) & (jnp.asarray(state.task.solid.seed) == 101)
    return jnp.where(stops, jnp.int32(24), random_rollback(key, state))


@pytest.fixture(scope="module")
def episodes():
    return jax.tree.map(np.asarray, rollout(rollback_or_stop, BATCH, KEY, mesh=FIRST))


def assert_same(a: Episodes, b: Episodes):
    for name in ("action", "outcome", "decisions", "steps", "iou", "pose_error", "rotation"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_as_the_plain_loop(one: Episodes, task: shapes.Task, group):
    """The trajectory of the reference's own loop, with NumPy's pictures, driven by the same actions."""
    points = shapes.cloud(task.solid)
    target = renderer.mask(points, np.eye(3))
    moves = iter(one.action)
    plain = environment.play(
        np.asarray(task.start, np.float64),
        lambda turn, rng: int(next(moves)),
        np.random.default_rng(0),
        lambda pose: renderer.iou(renderer.mask(points, pose), target),
        lambda pose: rotation.pose_error_deg(pose, group),
    )
    n = len(plain.actions)
    assert (OUTCOMES[one.outcome], one.decisions, one.steps) == (plain.outcome, n, plain.steps)
    assert (one.action[n:] == -1).all()
    np.testing.assert_allclose(one.rotation[: n + 1], plain.poses, atol=1e-5)
    np.testing.assert_allclose(one.pose_error[: n + 1], plain.pose_errors, atol=1e-3)
    np.testing.assert_allclose(one.iou[: n + 1], plain.ious, atol=8 / target.sum())
    assert (one.iou[n:] == one.iou[n]).all()
    assert (one.rotation[n:] == one.rotation[n]).all()


def take(episodes, index):
    return jax.tree.map(lambda leaf: leaf[index], episodes)


def test_the_trajectories_are_those_of_the_plain_loop(episodes):
    assert episodes.action.shape == (3, 48)
    assert episodes.iou.shape == (3, 49)
    for k, (row, one) in enumerate(zip(SOLIDS, TASKS, strict=True)):
        assert_as_the_plain_loop(take(episodes, k), one, rotation.symmetry_group(*row[1:]))
    assert OUTCOMES[episodes.outcome[1]] == "stop"
    assert (episodes.decisions[1], episodes.steps[1], episodes.action[1, 3]) == (4, 3, 24)
    assert episodes.decisions[[0, 2]].min() > 12


def test_two_devices_play_what_one_plays(episodes):
    # Three tasks are filled up to four and cut again.
    assert len(jax.local_devices()) == 2, "conftest.py asks for two host devices"
    assert_same(rollout(rollback_or_stop, BATCH, KEY), episodes)


def test_the_order_of_the_tasks_does_not_matter(episodes):
    order = np.array([2, 0, 1])
    assert_same(rollout(rollback_or_stop, BATCH[order], KEY, mesh=FIRST), take(episodes, order))


def test_all_at_once_as_on_an_accelerator_is_the_same_game(episodes, monkeypatch):
    # Eight decisions: at once, the ended episodes cost as much as the others.
    monkeypatch.setattr("rotajax.env.rollout.HORIZON", 8)
    whole = batch_map(functools.partial(episode, rollback_or_stop, key=KEY, params=Params()), "gpu", 256)
    played = jax.jit(whole)(BATCH)
    # Another program may round a pixel otherwise; the draws and the game are the same.
    np.testing.assert_array_equal(played.action, episodes.action[:, :8])
    np.testing.assert_allclose(played.rotation, episodes.rotation[:, :9], atol=1e-6)
    np.testing.assert_allclose(played.iou, episodes.iou[:, :9], atol=0.002)
    assert [OUTCOMES[outcome] for outcome in played.outcome] == ["running", "stop", "running"]


def test_another_key_draws_another_episode_and_the_same_key_the_same(episodes):
    assert_same(rollout(rollback_or_stop, BATCH, jax.random.key(3), mesh=FIRST), episodes)
    other = rollout(rollback_or_stop, BATCH, jax.random.key(4), mesh=FIRST)
    assert (np.asarray(other.action) != episodes.action).any()
    # Tasks of one batch draw from streams of their own.
    assert (episodes.action[0, :6] != episodes.action[2, :6]).any()


def test_more_decisions_than_an_episode_can_hold_are_refused():
    with pytest.raises(ValueError, match=r"^rollout: max_decisions: expected at most 48, got 49$"):
        rollout(rollback_or_stop, BATCH, KEY, Params(max_decisions=np.int32(49)))


def test_changing_task_pose_seed_or_params_does_not_trace_anew(episodes):
    traced = []

    def counting(solid, R):
        traced.append(1)
        return splat(solid, R)

    play = functools.partial(rollout, rollback_or_stop, renderer=counting, mesh=FIRST)
    assert (np.asarray(play(BATCH[:2], KEY, Params(max_decisions=np.int32(2))).decisions) == 2).all()
    once = len(traced)
    # A part of the batch plays as in the whole.
    assert_same(play(BATCH[1:], KEY), take(episodes, slice(1, 3)))
    other = shapes.Task(solid=BATCH.solid, start=BATCH.start[::-1].copy(), group=BATCH.group)
    play(other[1:], jax.random.key(9), Params(patience=np.int32(1)))
    assert len(traced) == once > 0


@pytest.mark.parametrize("decision", [8, np.int64(8), jnp.int32(8), Move(action=8, iou=0.5)])
def test_a_policy_may_return_a_number_of_any_kind_or_a_move(decision):
    episodes = jax.eval_shape(lambda: episode(lambda key, state: decision, TASKS[0], KEY, Params()))
    assert episodes.action.dtype == jnp.int32
    state = shapes.state_at(TASKS[0], R=shapes.EYE)
    assert jax.eval_shape(lambda: step(state, decision, Params())[0]).last_action.dtype == jnp.int32


@pytest.mark.parametrize(
    ("decision", "said"),
    [(30, "from 0 to 24"), (np.float32(0.5), "a whole number"), (Move(action=-1, iou=0.5), "from 0")],
)
def test_a_policy_that_returns_no_action_is_told_so(decision, said):
    with pytest.raises(ValueError, match=f"step: action: expected .*{said}"):
        jax.eval_shape(lambda: episode(lambda key, state: decision, TASKS[0], KEY, Params()))


def test_an_iou_that_a_policy_knows_is_taken_over_and_only_for_the_exact_renderer():
    state = jax.jit(lambda task: reset(task, Params())[0])(TASKS[0])
    known = jax.jit(lambda move: moved(state, move, Params()))
    drawn = float(known(as_move(jnp.int32(8))).iou)
    assert 0 < drawn < 1
    assert float(known(as_move(Move(action=8, iou=0.25))).iou) == 0.25
    other = jax.jit(lambda move: moved(state, move, Params(), renderer=splat))
    assert float(other(as_move(Move(action=8, iou=0.25))).iou) == drawn
