"""The certified silhouette is the exact one, bit for bit, and is not drawn from every column."""

import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from rotajax.geometry.rotation import rotation
from rotajax.geometry.solid import BUCKETS, depth_extremes, depth_fraction, extrude, make_solid
from rotajax.icons import accepted_mask, outline_points, plane_circle, plane_points
from rotajax.render.certified import _open, certified_packed, completed
from rotajax.render.packed import erode_disk, erode_sideways, pack, unpack
from rotajax.render.runs import safe_runs
from rotajax.render.skeleton import skeleton
from rotajax.render.span import downwards
from rotajax.render.splat import disks, splat_packed

SOLIDS = {"letter": shapes.letter, "bar": shapes.bar, "ring": shapes.ring}
ICONS = ("lorc/oat", "lorc/tombstone", "lorc/galleon", "delapouite/funnel", "delapouite/latvia", "lorc/hawk-emblem")


@jax.jit
def drawn(solid, columns, poses):
    """The exact, the certified and the skeleton's silhouette of every pose, packed."""
    forms = (
        functools.partial(splat_packed, solid),
        functools.partial(certified_packed, solid, columns),
        functools.partial(splat_packed, columns),
    )
    return tuple(jax.lax.map(form, poses) for form in forms)


def some_poses(count, seed=0):
    """The target, flat and edge-on views, the two diagonals where a segment's slope is 1, then random poses."""
    rng = np.random.default_rng(seed)
    fixed = [np.eye(3), *(rotation(d, a) for d in ("YAW_POS", "PITCH_NEG") for a in (90, 180, 45, 1))]
    fixed += [shapes.about(axis, angle) for axis in ((1, 1, 0), (1, -1, 0)) for angle in (20, 70)]
    poses = [*fixed, *(shapes.random_rotation(rng) for _ in range(count - len(fixed)))]
    return np.array(poses, np.float32)


@pytest.mark.parametrize("name", SOLIDS)
def test_bit_for_bit_the_exact_silhouette_where_the_skeleton_s_is_not(name):
    solid = make_solid(shapes.grid(SOLIDS[name], step=0.11), 3, size=BUCKETS[-1])
    columns = skeleton(solid, size=BUCKETS[-1])
    expected, got, part = (np.asarray(form) for form in drawn(solid, columns, some_poses(40)))
    np.testing.assert_array_equal(got, expected)
    assert (part != expected).any((1, 2)).sum() > 10


def test_one_compilation_serves_every_solid_and_pose():
    chex.clear_trace_counter()
    counted = chex.assert_max_traces(lambda *arguments: certified_packed(*arguments), n=1)
    call = jax.jit(counted)
    for seed, keep in enumerate(SOLIDS.values()):
        solid = shapes.solid_of(keep, seed)
        for pose in some_poses(16)[seed::5]:
            np.testing.assert_array_equal(call(solid, skeleton(solid), pose), splat_packed(solid, jnp.asarray(pose)))


def test_the_core_is_what_whole_disks_and_whole_rows_of_three_leave():
    rng = np.random.default_rng(0)
    mask = np.zeros((320, 320), bool)
    for u, v in rng.integers(20, 300, (1500, 2)):
        mask[v - 9 : v + 9, u - 9 : u + 9] = True
    words = pack(jnp.asarray(mask)).T
    # What a disk round any pixel outside the mask covers is not core.
    hole = dilated(~mask)
    np.testing.assert_array_equal(unpack(erode_disk(words).T), ~hole)
    expected = mask.copy()
    expected[:, 1:] &= mask[:, :-1]
    expected[:, :-1] &= mask[:, 1:]
    np.testing.assert_array_equal(unpack(erode_sideways(words).T)[:, 1:-1], expected[:, 1:-1])
    assert 1000 < hole.sum() < hole.size


def dilated(mask):
    out = np.zeros_like(mask)
    for v, u in np.argwhere(np.hypot(*np.mgrid[-2:3, -2:3]) <= 2) - 2:
        out |= np.roll(mask, (v, u), (0, 1))
    return out


@jax.jit
def not_cleared(solid, drawn, R):
    across, turned, slope = downwards(R)
    return _open(solid, turned, slope, safe_runs(drawn, across, slope))


def test_every_sample_of_a_cleared_column_has_its_disk_in_the_picture():
    solid = make_solid(shapes.grid(SOLIDS["ring"], step=0.11), 5, size=BUCKETS[-1])
    columns = skeleton(solid)
    count = int(solid.count)
    points = np.asarray(extrude(solid).xyz, np.float64).reshape(-1, 31, 3)[:count]
    cleared = 0
    for R in some_poses(14, seed=2):
        drawn = disks(columns, jnp.asarray(R))
        core = np.asarray(unpack(erode_disk(drawn).T))
        closed = ~np.asarray(not_cleared(solid, drawn, jnp.asarray(R)))[:count]
        # Wherever rounding may put a sample: both pixels where its coordinate is within 0.001 of a half.
        for shift in (-1e-3, 1e-3):
            u, v = (
                np.rint(160 + 5 * (points[closed] @ R[row].astype(np.float64)) + shift).astype(int) for row in (0, 1)
            )
            assert core[v, u].all()
        cleared += closed.sum()
    assert 0.5 * count * 14 < cleared < count * 14


def test_any_disks_of_samples_with_the_outline_s_are_completed():
    solid = shapes.solid_of(SOLIDS["letter"], 4)
    columns = skeleton(solid)
    for R in some_poses(9, seed=3):
        whole = completed(solid, columns, R, disks(columns, R))
        np.testing.assert_array_equal(whole, splat_packed(solid, jnp.asarray(R)))


def test_extreme_depths_between_the_ends():
    seed, i = jnp.uint32(9), jnp.arange(500, dtype=jnp.uint32)
    inner = np.stack([np.asarray(depth_fraction(seed, i, jnp.uint32(j))) for j in range(2, 31)])
    for got, expected in zip(depth_extremes(seed, i), (inner.min(0), inner.max(0)), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.slow
def test_real_icons(icons):
    for k, name in enumerate(ICONS):
        points = outline_points(accepted_mask(icons / f"{name}.svg"))
        solid = make_solid(plane_points(points, plane_circle(points)), k, size=BUCKETS[-1])
        expected, got, _ = drawn(solid, skeleton(solid, size=BUCKETS[-1]), some_poses(150, seed=k))
        np.testing.assert_array_equal(got, expected)
