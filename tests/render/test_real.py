"""Parity on real icons (random by SHA-256 of their path) with NumPy and OpenCV, and their symmetries in pictures."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import renderer
from rotajax.compare import iou
from rotajax.geometry import symmetry
from rotajax.geometry.solid import BUCKETS, make_solid
from rotajax.icons import foreground, outline_points, plane_circle, plane_points, rasterise
from rotajax.render.shade import shade
from rotajax.render.splat import splat

ICONS = (
    *("delapouite/orange", "lorc/hanging-spider", "delapouite/planet-core", "aussiesim/card-10-diamonds"),
    *("lorc/drink-me", "lorc/star-pupil", "lorc/explosion-rays", "lorc/hawk-emblem", "sbed/slow-blob"),
    *("lorc/fluffy-trefoil", "delapouite/latvia", "lorc/fluffy-cloud", "delapouite/rolled-cloth"),
    *("andymeneely/police-badge", "lorc/fluffy-swirl", "delapouite/conway-life-glider", "lorc/galleon"),
    *("delapouite/mighty-force", "delapouite/bouncing-spring", "delapouite/funnel"),
)
SYMMETRIC = ("delapouite/orange", "lorc/hanging-spider", "sbed/slow-blob", "andymeneely/police-badge")


def both(solid, pose):
    return splat(solid, pose), shade(solid, pose)


one = jax.jit(both)
at_once = jax.jit(jax.vmap(both, (None, 0)))
in_turn = jax.jit(lambda solid, poses: jax.lax.map(functools.partial(both, solid), poses))
FORMS = {
    "jit": lambda solid, poses: [np.stack(p) for p in zip(*(one(solid, pose) for pose in poses), strict=True)],
    "vmap": at_once,
    "map": in_turn,
    "eager": lambda solid, poses: [
        np.stack(p) for p in zip(*(both(solid, jnp.asarray(pose)) for pose in poses), strict=True)
    ],
}


def plane(icons, name):
    points = outline_points(foreground(rasterise((icons / f"{name}.svg").read_bytes())))
    return plane_points(points, plane_circle(points))


def some_poses(count, seed):
    """The target, one near it, then random poses."""
    rng = np.random.default_rng(seed)
    fixed = [np.eye(3), shapes.about(rng.normal(size=3), 12)]
    return np.array([*fixed, *(shapes.random_rotation(rng) for _ in range(count - 2))], np.float32)


def deciding(points, pose, scale):
    """The points that the reference's picture depends on: of those on one pixel, one of the brightest.

    2.8 million points take the plain reference seconds a picture; these few thousand give the same one.
    """
    rotated = renderer.project_points(points, pose)
    u, v = renderer.pixels(rotated, scale)
    brightness = np.clip(110 + np.float32(6) * rotated[:, 2] + np.float32(1.8) * rotated[:, 0], 40, 235)
    order = np.argsort(brightness.astype(np.uint8), kind="stable")
    last = np.full((400, 400), -1)
    last[v[order], u[order]] = order  # the last one written stays
    return points[last[last >= 0]]


def test_the_deciding_points_give_the_whole_pictures():
    points, pose = shapes.cloud(shapes.solid_of(shapes.letter)), some_poses(3, 0)[2]
    for draw, scale in ((renderer.mask, renderer.SCALE), (renderer.view, renderer.VIEW_SCALE)):
        few = deciding(points, pose, scale)
        assert len(few) < len(points) / 3
        np.testing.assert_array_equal(draw(few, pose), draw(points, pose))


def worst(icons, names, count, forms):
    """(pixels a mask, fraction of a view off by more than 1) at worst, over icons, poses and forms."""
    pixels, off = {}, {}
    for number, name in enumerate(names):
        solid, poses = make_solid(plane(icons, name), 1000 + number, size=BUCKETS[-1]), some_poses(count, number)
        points = shapes.cloud(solid)
        masks = np.array([renderer.mask(deciding(points, pose, renderer.SCALE), pose) for pose in poses])
        views = np.array([renderer.view(deciding(points, pose, renderer.VIEW_SCALE), pose) for pose in poses])
        views = views.astype(int)
        for form in forms:
            got = [np.asarray(part) for part in FORMS[form](solid, poses)]
            differing = (got[0] != masks).sum((1, 2)).max()
            wrong = (np.abs(got[1].astype(int) - views) > 1).mean((1, 2)).max()
            pixels[form], off[form] = max(pixels.get(form, 0), differing), max(off.get(form, 0), wrong)
    print(f"{len(names)} icons x {count} poses: at most {pixels} pixels a mask, {off} of a view")
    return pixels, off


def test_four_real_icons_are_drawn_as_by_numpy_and_opencv(icons):
    pixels, off = worst(icons, ICONS[:4], 4, ["map"])
    assert max(pixels.values()) <= 4, pixels
    assert max(off.values()) <= 0.001, off


@pytest.mark.slow
def test_twenty_real_icons_are_drawn_as_by_numpy_and_opencv_in_every_form(icons):
    pixels, off = worst(icons, ICONS, 10, list(FORMS))
    assert max(pixels.values()) <= 4, pixels
    assert max(off.values()) <= 0.001, off


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_symmetry_keeps_the_silhouette(icons, name):
    points = plane(icons, name)
    found = symmetry.estimate(points)
    size = symmetry.group_size(found)
    assert size > 1
    solid, group = make_solid(points, 5, size=BUCKETS[-1]), symmetry.group(found)[:size]
    target = one(solid, shapes.EYE)[0]
    scores = [float(iou(one(solid, element)[0], target)) for element in group]
    assert min(scores) >= 0.95
    # And from any side: R S looks as R does.
    pose = shapes.about((3, -1, 2), 65)
    turned = [one(solid, (pose @ element).astype(np.float32))[0] for element in group[:4]]
    assert min(float(iou(mask, turned[0])) for mask in turned) >= 0.95
