import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import renderer, rotation
from rotajax.env.actions import STOP, action_index
from rotajax.env.state import RUNNING, SUCCESS, Params
from rotajax.env.step import reset, step
from rotajax.tasks.starts import draw_sequence, inverse_path, start_pose
from rotajax.tasks.task import with_skeletons

PARAMS = Params()
SEQUENCE = draw_sequence(5, 0)
TASKS = [
    shapes.task_of(shapes.letter, start_pose(SEQUENCE)),
    shapes.task_of(shapes.bar, start_pose(draw_sequence(6, 0)), seed=2**32 - 1, order=2, mirror=0.0),
]
BATCH = jax.tree.map(lambda *leaves: np.stack(leaves), *TASKS)
first, after = jax.jit(reset), jax.jit(step)
first_all, after_all = jax.jit(jax.vmap(reset, (0, None))), jax.jit(jax.vmap(step, (0, 0, None)))


@pytest.fixture(scope="module")
def begun():
    return first(TASKS[0], PARAMS)


def test_reset_shows_the_target_the_start_and_its_view(begun):
    state, seen = begun
    points = shapes.cloud(TASKS[0].solid)
    assert (np.asarray(seen.target) != renderer.mask(points, np.eye(3))).sum() <= 4
    assert (np.asarray(seen.current) != renderer.mask(points, TASKS[0].start)).sum() <= 4
    view = renderer.view(points, TASKS[0].start).astype(int)
    assert (np.abs(np.asarray(seen.view) - view) > 1).mean() <= 0.001
    np.testing.assert_array_equal(
        seen.panel(), renderer.panel(*map(np.asarray, (seen.target, seen.view, seen.current)))
    )
    assert state.iou == np.float32(renderer.iou(np.asarray(seen.target), np.asarray(seen.current)))
    assert (state.outcome, state.decisions, state.steps, state.last_action) == (RUNNING, 0, 0, -1)
    assert state.best_iou == state.previous_iou == state.iou < 0.9


def test_a_start_that_is_aligned_is_a_success_without_a_step():
    aligned = type(TASKS[0])(solid=TASKS[0].solid, start=shapes.EYE, group=TASKS[0].group)
    state, _ = first(aligned, PARAMS)
    assert (state.outcome, state.iou, state.decisions) == (SUCCESS, 1, 0)
    assert bool(state.terminated)


@pytest.mark.parametrize("action", [0, 7, 11, 23])
def test_a_step_turns_the_pose_in_the_camera_s_frame(begun, action):
    state, seen = after(begun[0], np.int32(action), PARAMS)
    np.testing.assert_allclose(state.R, rotation.apply(TASKS[0].start, action), atol=1e-6)
    mask = renderer.mask(shapes.cloud(TASKS[0].solid), np.asarray(state.R))
    assert (np.asarray(seen.current) != mask).sum() <= 4
    assert (state.decisions, state.steps, state.last_action) == (1, 1, action)
    assert state.previous_iou == begun[0].iou


def test_stop_leaves_the_pose_and_the_picture(begun):
    state, seen = after(begun[0], np.int32(STOP), PARAMS)
    np.testing.assert_array_equal(state.R, begun[0].R)
    np.testing.assert_array_equal(seen.current, begun[1].current)
    assert (state.decisions, state.steps, state.iou) == (1, 0, begun[0].iou)
    assert bool(state.terminated)


@pytest.mark.parametrize("index", [0, 1])
def test_the_reversed_start_leads_back_to_the_target(index):
    state, _ = first(TASKS[index], PARAMS)
    for direction, angle in inverse_path(SEQUENCE if index == 0 else draw_sequence(6, 0)):
        state, _ = after(state, np.int32(action_index(direction, angle)), PARAMS)
    assert state.iou >= 0.99
    assert np.abs(np.asarray(state.R) - np.eye(3)).max() <= 1e-5
    assert state.outcome == SUCCESS


def test_a_batch_is_its_tasks_one_by_one():
    states, seen = first_all(BATCH, PARAMS)
    states, seen = after_all(states, np.array([3, 14], np.int32), PARAMS)
    for k, (task, action) in enumerate(zip(TASKS, (3, 14), strict=True)):
        state, one = after(first(task, PARAMS)[0], np.int32(action), PARAMS)
        for name in ("target", "current"):
            assert (np.asarray(getattr(seen, name)[k]) != np.asarray(getattr(one, name))).sum() <= 4
        np.testing.assert_allclose(states.R[k], state.R, atol=1e-6)
        assert abs(float(states.iou[k]) - float(state.iou)) <= 0.002
        assert (states.outcome[k], states.steps[k]) == (state.outcome, state.steps)


def test_changing_task_action_seed_or_params_does_not_trace_anew():
    traced = []

    @jax.jit
    def play(task, action, params):
        traced.append(1)
        return step(reset(task, params)[0], action, params)[0].iou

    play(TASKS[0], np.int32(0), PARAMS)
    play(TASKS[1], np.int32(24), Params(success_iou=np.float32(0.5), max_decisions=np.int32(3), patience=np.int32(1)))
    play(BATCH[jnp.int32(1)], np.int32(5), PARAMS)
    assert len(traced) == 1


@pytest.mark.parametrize(
    ("action", "got"), [(-1, "0 to 24, got -1"), (25, "0 to 24, got 25"), (2.7, "number, got float32")]
)
def test_an_action_that_is_no_index_is_refused_and_not_played_as_another(begun, action, got):
    with pytest.raises(ValueError, match=f"step: action: expected .* {got}"):
        inspect.unwrap(step)(begun[0], action, Params())


def test_a_task_that_carries_its_skeleton_shows_the_same_pictures(begun):
    task = with_skeletons(BATCH)[0]
    state, seen = first(task, PARAMS)
    action = action_index("YAW_POS", 30)
    for got, expected in ((seen, begun[1]), (after(state, action, PARAMS)[1], after(begun[0], action, PARAMS)[1])):
        jax.tree.map(np.testing.assert_array_equal, got, expected)
