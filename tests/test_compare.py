import inspect

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import renderer, rotation
from rotajax.compare import angle_deg, iou, pose_error_deg

compare = jax.jit(iou)
error = jax.jit(jax.vmap(pose_error_deg, (0, None)))
gradient = jax.jit(jax.vmap(jax.grad(pose_error_deg), (0, None)))
GROUPS = [(1, None), (2, None), (3, 20.0), (6, None), (12, 7.5), (1, 180.0)]
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 2, 3), (-3, 1, 0.5)]


def masks(seed):
    rng = np.random.default_rng(seed)
    return rng.random((2, 320, 320)) < rng.uniform(0.01, 0.9)


def packed(mask):
    """32 pixels a uint32 word, the first pixel in the lowest bit."""
    return np.packbits(mask, axis=1, bitorder="little").view(np.uint32)


@pytest.mark.parametrize("seed", range(4))
def test_iou_is_that_of_the_reference_for_masks_and_for_words(seed):
    a, b = masks(seed)
    expected = np.float32(renderer.iou(a, b))
    assert compare(a, b) == expected
    assert compare(packed(a), packed(b)) == expected
    assert compare(b, a) == expected


def test_iou_at_its_ends():
    a, _ = masks(0)
    none = np.zeros((320, 320), bool)
    one = none.copy()
    one[319, 319] = True
    for form in (np.asarray, packed):
        assert compare(form(a), form(a)) == 1
        assert compare(form(none), form(none)) == 1
        assert compare(form(one), form(none)) == 0
        assert compare(form(none), form(one)) == 0
        assert compare(form(~none), form(~none)) == 1
        assert compare(form(~none), form(one)) == np.float32(1 / 102_400)


def test_nine_tenths_is_not_less_than_the_threshold():
    whole = np.zeros((320, 320), bool)
    for size in (10, 1000, 51_230):
        whole.reshape(-1)[:size] = True
        part = whole.copy()
        part.reshape(-1)[: size // 10] = False
        assert compare(part, whole) >= np.float32(0.9)
        part.reshape(-1)[size - 1] = False
        assert compare(part, whole) < np.float32(0.9)


@pytest.mark.parametrize(("order", "mirror"), GROUPS)
def test_pose_error_agrees_with_the_reference_everywhere(order, mirror):
    rng = np.random.default_rng(order)
    group = shapes.padded_group(order, mirror)
    poses = [shapes.random_rotation(rng) for _ in range(64)]
    near = [0.0, 1e-6, 1e-4, 1e-3, 0.05, 1.0, 90.0, 179.0, 179.95, 179.999, 179.9999, 180.0]
    poses += [shapes.about(axis, angle) for axis in AXES for angle in near]
    poses = np.array(poses, np.float32)
    got = np.asarray(error(poses, group))
    elements = group.astype(np.float64)
    expected = [rotation.pose_error_deg(pose, elements) for pose in poses]
    assert np.abs(got - expected).max() <= 1e-4
    assert got.min() >= 0
    assert got.max() <= 180


@pytest.mark.parametrize("angle", [1e-5, 1e-3, 0.1, 1, 45, 179.9, 179.9999, 180])
def test_the_angle_is_that_of_the_turn(angle):
    turns = np.array([shapes.about(axis, angle) for axis in AXES], np.float32)
    assert np.abs(np.asarray(error(turns, shapes.padded_group())) - angle).max() <= 1e-4


@pytest.mark.parametrize(("order", "mirror"), GROUPS)
def test_pose_error_is_zero_at_every_target_and_does_not_see_the_symmetry(order, mirror):
    group = shapes.padded_group(order, mirror)
    assert np.asarray(error(group, group)).max() <= 1e-4
    pose = shapes.random_rotation(np.random.default_rng(5))
    # S is a target, and R S looks as R does: e(R S) = e(R) for every S of the group.
    turned = (pose @ group.astype(np.float64)).astype(np.float32)
    errors = np.asarray(error(turned, group))
    assert np.abs(errors - errors[0]).max() <= 1e-4


@pytest.mark.parametrize(("order", "mirror"), GROUPS)
def test_pose_error_and_its_gradient_are_finite_everywhere(order, mirror):
    rng = np.random.default_rng(0)
    group = shapes.padded_group(order, mirror)
    poses = [shapes.random_rotation(rng) for _ in range(16)] + list(group)
    poses += [shapes.about(axis, angle) for axis in AXES for angle in (0, 1e-12, 1e-9, 1e-6, 90, 179.9999, 180)]
    # Between two targets, where the minimum changes hands.
    poses += [shapes.about((0, 0, 1), 180.0 / order)]
    poses = np.array(poses, np.float32)
    chex.assert_tree_all_finite((error(poses, group), gradient(poses, group)))


def test_the_gradient_points_away_from_the_target():
    pose = shapes.about((1, 2, 3), 40).astype(np.float32)
    slope = np.asarray(gradient(pose[None], shapes.padded_group()))[0]
    # Along the turn itself the error grows by one degree a degree.
    ahead = (shapes.about((1, 2, 3), 41) - shapes.about((1, 2, 3), 39)) / 2
    assert (slope * ahead).sum() == pytest.approx(1.0, abs=1e-3)


def test_many_angles_at_once_are_the_angles_one_by_one():
    turns = np.array([shapes.about((1, 2, 3), a) for a in (0, 20, 170, 180)], np.float32)
    np.testing.assert_allclose(angle_deg(jnp.asarray(turns)), [0, 20, 170, 180], atol=1e-4)


def test_masks_of_two_shapes_or_kinds_are_refused_and_not_broadcast():
    unchecked = inspect.unwrap(iou)  # as it is for users: without the checks of annotations that tests run under
    mask = np.ones((320, 320), np.bool_)
    for other in (mask[:3, :3], mask[0], mask.astype(np.uint32)):
        with pytest.raises(ValueError, match=r"iou: expected two masks \(bool\), .*, got bool\[320, 320\] and "):
            unchecked(mask, other)
    with pytest.raises(ValueError, match="got uint8"):
        unchecked(mask.astype(np.uint8), mask.astype(np.uint8))
    with pytest.raises(ValueError, match=r"pose: expected one of shape \(3, 3\), got \(4, 4\)"):
        inspect.unwrap(pose_error_deg)(np.eye(4, dtype=np.float32), np.eye(3, dtype=np.float32)[None])
