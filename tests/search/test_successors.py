import jax
import numpy as np

import shapes
from reference import renderer, rotation
from rotajax.render.splat import splat
from rotajax.search.successors import successor_ious, successor_pose_errors, successor_poses

POSE = shapes.about((2, -1, 3), 70).astype(np.float32)
scores = jax.jit(successor_ious)


def test_poses_are_those_of_the_reference_in_the_order_of_the_actions():
    expected = [rotation.apply(POSE, action) for action in range(24)]
    np.testing.assert_allclose(jax.jit(successor_poses)(POSE), expected, atol=1e-6)


def test_ious_are_those_of_the_reference_s_pictures():
    solid = shapes.solid_of(shapes.letter, step=0.9871)
    points = shapes.cloud(solid)
    target = np.asarray(jax.jit(splat)(solid, shapes.EYE))
    got = np.asarray(scores(solid, target, POSE))
    expected = [renderer.iou(renderer.mask(points, rotation.apply(POSE, a)), target) for a in range(24)]
    # At most 4 pixels of the union a mask.
    assert np.abs(got - expected).max() <= 4 / target.sum()
    assert got.dtype == np.float32
    assert np.ptp(got) > 0.01


def test_pose_errors_are_those_of_the_reference():
    group = shapes.padded_group(3, 20.0)
    expected = [rotation.pose_error_deg(rotation.apply(POSE, a), rotation.symmetry_group(3, 20.0)) for a in range(24)]
    np.testing.assert_allclose(jax.jit(successor_pose_errors)(POSE, group), expected, atol=1e-3)
