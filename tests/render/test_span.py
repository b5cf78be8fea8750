"""The span renderer against the exact one: a stated pixel budget, the same picture in every form, one compilation."""

import functools

import chex
import jax
import numpy as np
import pytest

import shapes
from rotajax.compare import iou
from rotajax.geometry.rotation import MATRICES, rotation
from rotajax.geometry.solid import BUCKETS, CHUNK, make_solid
from rotajax.icons import accepted_mask, outline_points, plane_circle, plane_points
from rotajax.render.packed import unpack
from rotajax.render.skeleton import skeleton
from rotajax.render.span import span, span_packed
from rotajax.render.splat import splat

SOLIDS = {"letter": shapes.letter, "bar": shapes.bar, "ring": shapes.ring}
# The part of the union in which two pictures may differ: on a small view a pixel in five along the outline.
BUDGET = 0.015
# An IoU differs by less: what is gained on one side of an outline is lost on another.
MARGIN = 0.004

exact = jax.jit(lambda shape, poses: jax.lax.map(functools.partial(splat, shape), poses))
one = jax.jit(span)
fast = jax.jit(lambda shape, poses: jax.lax.map(functools.partial(span, shape), poses))
ious = jax.jit(jax.vmap(iou, (0, None)))


def some_poses(count, seed=0):
    """The target, flat and edge-on views and single actions, then random poses."""
    rng = np.random.default_rng(seed)
    fixed = [np.eye(3), *(rotation(d, a) for d in ("YAW_POS", "PITCH_NEG") for a in (90, 180, 45, 1))]
    fixed += [rotation("ROLL_POS", 45), rotation("ROLL_NEG", 90)]
    poses = [*fixed, *(shapes.random_rotation(rng) for _ in range(count - len(fixed)))]
    return np.array(poses, np.float32)


def distance(a, b):
    return (a != b).sum((1, 2)) / (a | b).sum((1, 2))


def dense(keep, step=0.11):
    return make_solid(shapes.grid(keep, step=step), 3, size=BUCKETS[-1])


@pytest.mark.parametrize("name", SOLIDS)
def test_close_to_the_exact_silhouette_with_all_columns_and_with_few(name):
    solid = dense(SOLIDS[name])
    few = skeleton(solid, size=BUCKETS[-1])
    assert int(few.count) < int(solid.count) / 2
    poses = some_poses(24)
    expected, of_all, of_few = (
        np.asarray(form) for form in (exact(solid, poses), fast(solid, poses), fast(few, poses))
    )
    assert distance(of_all, expected).max() < BUDGET
    assert distance(of_few, expected).max() < BUDGET
    error = np.abs(ious(of_few, expected[0]) - ious(expected, expected[0]))
    assert error.max() < MARGIN


def test_real_icons_within_the_budget(icons):
    for path in ("lorc/ouroboros.svg", "andymeneely/police-badge.svg"):
        points = outline_points(accepted_mask(icons / path, cache=False))
        solid = make_solid(plane_points(points, plane_circle(points)), 1, size=BUCKETS[-1])
        poses = np.concatenate([some_poses(16), MATRICES[::3]])
        expected, pictures = np.asarray(exact(solid, poses)), np.asarray(fast(skeleton(solid), poses))
        assert distance(pictures, expected).max() < BUDGET
        assert np.abs(ious(pictures, expected[0]) - ious(expected, expected[0])).max() < MARGIN


def test_one_column_is_a_segment_with_round_ends():
    solid = make_solid(np.zeros((1, 2)), 0)
    for direction, turned in (("YAW_POS", False), ("PITCH_POS", True)):
        picture = np.asarray(one(solid, rotation(direction, 90)))
        picture = picture.T if turned else picture
        rows = np.flatnonzero(picture.any(1))
        # Half depth 28 units of 5 pixels either side of the centre, and the disk.
        assert rows.tolist() == [158, 159, 160, 161, 162]
        assert np.flatnonzero(picture[160]).tolist() == list(range(160 - 142, 160 + 143))


def test_a_column_seen_from_its_end_is_one_disk():
    solid = make_solid(np.array([[10.0, -4.0]]), 0)
    v, u = np.indices((320, 320))
    np.testing.assert_array_equal(one(solid, np.eye(3, dtype=np.float32)), (v - 140) ** 2 + (u - 210) ** 2 <= 4)


def test_the_target_pose_is_exact_with_all_columns():
    solid, pose = dense(shapes.letter), np.eye(3, dtype=np.float32)[None]
    np.testing.assert_array_equal(fast(solid, pose), exact(solid, pose))


def test_packed_words_vmap_and_map_are_one_picture():
    columns, poses = skeleton(dense(shapes.letter)), some_poses(14)
    pictures = np.asarray(fast(columns, poses))
    words = jax.jit(jax.vmap(span_packed, (None, 0)))(columns, poses)
    assert words.shape == (14, 320, 10)
    np.testing.assert_array_equal(jax.vmap(unpack)(words), pictures)


def test_padding_and_the_order_of_columns_change_nothing():
    points = shapes.grid(shapes.ring)
    shuffled = np.random.default_rng(1).permutation(points)
    poses = some_poses(14)
    plain = fast(make_solid(points, 0), poses)
    np.testing.assert_array_equal(plain, fast(make_solid(points, 0, size=4 * CHUNK), poses))
    np.testing.assert_array_equal(plain, fast(make_solid(shuffled, 0), poses))


def test_poses_and_solids_of_one_size_share_one_compilation():
    chex.clear_trace_counter()
    counted = jax.jit(chex.assert_max_traces(span_packed, n=1))
    for name in SOLIDS:
        columns = skeleton(dense(SOLIDS[name]), size=2 * CHUNK)
        for pose in some_poses(13)[::4]:
            counted(columns, pose)


def test_a_skeleton_keeps_scattered_columns_and_the_outline_of_a_block():
    rng = np.random.default_rng(2)
    scattered = make_solid(rng.uniform(-19, 19, (500, 2)), 0)
    assert int(skeleton(scattered).count) == 500
    solid = dense(shapes.bar)
    few = skeleton(solid)
    kept = np.stack([few.x, few.y], 1)[: int(few.count)]
    points = np.stack([solid.x, solid.y], 1)[: int(solid.count)]
    outline = points[(points == points.min(0)).any(1) | (points == points.max(0)).any(1)]
    assert {*map(tuple, outline)} <= {*map(tuple, kept)} <= {*map(tuple, points)}


def test_a_size_that_cannot_hold_a_skeleton_is_named():
    solid = make_solid(np.random.default_rng(2).uniform(-19, 19, (9000, 2)), 0)
    with pytest.raises(ValueError, match=r"skeleton: padded size: expected at least [0-9]+, got 8192"):
        skeleton(solid, size=8192)
    with pytest.raises(ValueError, match="skeleton: padded size: expected a multiple of 8192, got 100"):
        skeleton(solid, size=100)
