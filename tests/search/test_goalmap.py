"""The goal map against pictures: drawn pose by pose, compared in NumPy."""

import jax
import numpy as np
import pytest

import shapes
from reference import renderer
from rotajax.geometry.quaternion import angle_deg, from_matrix, multiply, to_matrix
from rotajax.render.skeleton import skeleton
from rotajax.render.span import span, span_packed
from rotajax.render.splat import splat
from rotajax.search.goalmap import (
    REACH,
    ROLLS,
    SIDE,
    STEP,
    GoalMap,
    _turn_about_view,
    _view_quaternion,
    goal_map,
    goal_poses,
)
from rotajax.search.shortest import CELL

HERE = np.array([1.0, 0, 0, 0])
_span, _splat = jax.jit(span), jax.jit(splat)


def drawn(bones, poses):
    return np.stack([np.asarray(_span(bones, R)) for R in poses])


def exact(solid, poses):
    return np.stack([np.asarray(_splat(solid, R)) for R in poses])


def hair(x, y):
    """A ring and a radius 1 unit wide: thinner than the grid on which the map is made."""
    return (np.abs(np.hypot(x, y) - 24) < 0.6) | ((np.abs(y) < 0.6) & (x > 0))


@pytest.fixture(scope="module", params=[shapes.letter, shapes.bar, hair], ids=lambda keep: keep.__name__)
def mapped(request):
    solid = shapes.solid_of(request.param)
    bones = skeleton(solid, size=8192)
    return solid, bones, goal_map(bones, jax.jit(span_packed)(bones, shapes.EYE))


def sample(goals, seed):
    """Poses anywhere, and about the cells where the map sees a goal."""
    rng = np.random.default_rng(seed)
    cells = goal_poses(goals, 0.85)
    near = np.concatenate([np.ones((1000, 1)), 0.03 * rng.normal(size=(1000, 3))], axis=1)
    near = multiply(near, cells[rng.integers(len(cells), size=1000)])
    reach = np.geomspace(0.001, 0.1, 200)[:, None]
    about_target = np.concatenate([np.ones((200, 1)), reach * rng.normal(size=(200, 3))], axis=1)
    q = np.concatenate([rng.normal(size=(400, 4)), near, about_target])
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def test_no_pose_has_a_greater_iou_than_its_entry(mapped):
    _, bones, goals = mapped
    q = sample(goals, 0)
    poses = to_matrix(q)
    target = np.asarray(drawn(bones, shapes.EYE[None]))[0]
    ious = np.array([renderer.iou(mask, target) for mask in np.asarray(drawn(bones, poses))])
    entry = goals.bound(q, HERE) / 255
    assert (ious > 0.9).sum() >= 20
    assert (ious - entry).max() <= 0.01
    # Where it matters the map is above with room to spare, and it does rule out most poses.
    assert (ious - entry)[(ious > 0.85) & (ious < 0.95)].max() <= -0.02
    assert (goals.table >= np.floor(255 * 0.88)).mean() < 0.01


def test_no_exact_picture_that_is_a_goal_is_ruled_out(mapped):
    solid, _, goals = mapped
    q = sample(goals, 1)
    q = q[np.argsort(-goals.bound(q, HERE).astype(int))[:250]]
    target = np.asarray(exact(solid, shapes.EYE[None]))[0]
    ious = np.array([renderer.iou(mask, target) for mask in np.asarray(exact(solid, to_matrix(q)))])
    entry = goals.bound(q, HERE)[ious >= 0.9]
    assert len(entry) >= 3
    assert (entry >= np.floor(255 * 0.9)).all()


def test_directions_at_opposite_cells_show_the_same_silhouette(mapped):
    _, bones, goals = mapped
    offsets = np.random.default_rng(2).integers(-22, 23, (12, 2))
    one = _view_quaternion(REACH + offsets[:, 0], REACH + offsets[:, 1])
    other = _view_quaternion(REACH - offsets[:, 0], REACH - offsets[:, 1])
    R = to_matrix(one)
    # The last row of a pose is the direction, in the solid's frame, that is seen: the cell's, by the equal-area grid.
    a, b = offsets[:, 1] * STEP, offsets[:, 0] * STEP
    shrink = np.sqrt(1 - (a * a + b * b) / 4)
    np.testing.assert_allclose(np.abs(R[:, 2, :2]), np.abs(np.stack([a * shrink, b * shrink], 1)), atol=1e-6)
    np.testing.assert_allclose(to_matrix(other)[:, 2], R[:, 2] * [-1, -1, 1], atol=1e-6)
    masks, twins = (np.asarray(drawn(bones, to_matrix(q))) for q in (one, other))
    assert (masks != twins).sum(axis=(1, 2)).max() <= 40
    assert min(renderer.iou(m, t) for m, t in zip(masks, twins, strict=True)) > 0.99
    np.testing.assert_array_equal(goals.bound(one, HERE), goals.bound(other, HERE))


def test_the_back_shows_the_mirrored_silhouette(mapped):
    _, bones, _ = mapped
    R = np.stack([shapes.random_rotation(np.random.default_rng(seed)) for seed in range(8)]).astype(np.float32)
    half_turn = np.array([-1, 1, -1], np.float32)[:, None]
    front, back = (np.asarray(drawn(bones, poses)) for poses in (R, half_turn * R))
    # Pixel u is mirrored to 320 - u; column 0 is outside every solid.
    for mask, mirrored in zip(front, back[:, :, :0:-1], strict=True):
        assert renderer.iou(mask[:, 1:], mirrored) > 0.98


def test_a_cell_s_centre_is_looked_up_in_that_cell():
    rng = np.random.default_rng(3)
    for _ in range(60):
        row, column = REACH + rng.integers(-REACH, REACH + 1, 2)
        radius = np.hypot(row - REACH, column - REACH) * STEP
        if radius > np.sqrt(2) - 0.01:
            continue
        table = np.zeros((2, SIDE, SIDE, ROLLS), np.uint8)
        table[rng.integers(2), row, column, rng.integers(ROLLS)] = 255
        goals = GoalMap(table)
        (centre,) = goal_poses(goals, 0.9)
        assert abs(np.linalg.norm(centre) - 1) < 1e-9
        assert goals.bound(np.stack([centre, -centre]), HERE).tolist() == [255, 255]


def test_a_cell_reaches_no_further_from_its_centre_than_the_search_counts_on():
    row, column = (g.ravel() for g in np.mgrid[:SIDE, :SIDE])
    inside = np.hypot(row - REACH, column - REACH) * STEP <= np.sqrt(2) + STEP
    row, column = row[inside], column[inside]
    centre = _view_quaternion(row, column)
    roll = _turn_about_view(np.full(len(row), np.pi / ROLLS))
    for a in (-0.5, 0, 0.5):
        for b in (-0.5, 0, 0.5):
            there = np.hypot(row + a - REACH, column + b - REACH) * STEP <= np.sqrt(2)
            for turn in (roll, roll * [1, 1, 1, -1]):
                corner = multiply(turn, _view_quaternion(row + a, column + b))
                assert angle_deg(centre, corner)[there].max() <= CELL


@pytest.mark.parametrize("count", [0, 1, 4096, 4097])
def test_any_number_of_poses_from_any_start(count):
    rng = np.random.default_rng(4)
    goals = GoalMap(rng.integers(0, 256, (2, SIDE, SIDE, ROLLS), np.uint8))
    q, start = rng.normal(size=(count, 4)), from_matrix(shapes.about((1, 2, 3), 77))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    entries = goals.bound(q, start)
    assert (entries.shape, entries.dtype) == ((count,), np.uint8)
    # Half turns and float32 may move a pose on a border to the neighbour, no more.
    same = entries == goals.bound(multiply(q, start), HERE)
    assert count == 0 or same.mean() > 0.999


def test_goal_poses_are_all_cells_above_the_threshold():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 200, (2, SIDE, SIDE, ROLLS), np.uint8)
    table[0, 3, 4, 5], table[1, 40, 41, 127] = 229, 228
    assert len(goal_poses(GoalMap(table), 0.9)) == 1
    assert len(goal_poses(GoalMap(table), 0.896)) == 2
