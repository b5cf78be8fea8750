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
def certificate(solid, columns, poses):
    """The core of what the skeleton's samples draw, packed, and the columns that are not cleared by it, every pose."""

    def one(R):
        drawn = disks(columns, R)
        across, turned, slope = downwards(R)
        return erode_disk(drawn).T, _open(solid, turned, slope, safe_runs(drawn, across, slope))

    return jax.lax.map(one, poses)


def test_every_sample_of_a_cleared_column_has_its_disk_in_the_picture():
    solid = make_solid(shapes.grid(SOLIDS["ring"], step=0.11), 5, size=BUCKETS[-1])
    count, poses = int(solid.count), some_poses(24, seed=2)
    points = np.asarray(jax.jit(extrude)(solid).xyz).reshape(-1, 31, 3)[:count].astype(np.float64)
    cores, left = certificate(solid, skeleton(solid), jnp.asarray(poses))
    cleared = ~np.asarray(left)[:, :count]
    for R, core, columns in zip(poses, np.asarray(jax.vmap(unpack)(cores)), cleared, strict=True):
        # Wherever rounding may put a sample: both pixels where its coordinate is within 0.001 of a half.
        for shift in (-1e-3, 1e-3):
            u, v = (np.rint(160 + 5 * (points[columns] @ R[row].astype(float)) + shift).astype(int) for row in (0, 1))
            assert core[v, u].all()
    assert 0.5 < cleared.mean() < 1


def test_any_disks_of_samples_with_the_outline_s_are_completed():
    solid = make_solid(shapes.grid(SOLIDS["letter"], step=0.11), 4, size=BUCKETS[-1])
    columns, poses = skeleton(solid, size=BUCKETS[-1]), some_poses(12, seed=3)
    whole = jax.jit(lambda solid, columns, R: completed(solid, columns, R, disks(columns, R)))
    expected = drawn(solid, columns, poses)[0]
    np.testing.assert_array_equal(np.stack([whole(solid, columns, R) for R in poses]), expected)


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
