import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import renderer
from rotajax.geometry.rotation import rotation
from rotajax.geometry.solid import RADIUS, extrude, make_solid
from rotajax.render.splat import splat

one = jax.jit(splat)
at_once = jax.jit(jax.vmap(splat, (None, 0)))
in_turn = jax.jit(lambda solid, poses: jax.lax.map(functools.partial(splat, solid), poses))
SOLIDS = {"letter": shapes.letter, "bar": shapes.bar, "ring": shapes.ring}


def some_poses(count, seed=3):
    """The target, an edge-on view, a turn in the plane, then random poses."""
    rng = np.random.default_rng(seed)
    fixed = [np.eye(3), rotation("YAW_POS", 90), rotation("ROLL_NEG", 37)]
    poses = [*fixed, *(shapes.random_rotation(rng) for _ in range(count - len(fixed)))]
    return np.array(poses, np.float32)


@pytest.mark.parametrize("name", SOLIDS)
def test_masks_are_the_reference_s_in_jit_vmap_map_and_eager(name):
    solid, poses = shapes.solid_of(SOLIDS[name]), some_poses(4)
    points = shapes.cloud(solid)
    expected = np.array([renderer.mask(points, pose) for pose in poses])
    forms = {
        "jit": np.array([one(solid, pose) for pose in poses]),
        "vmap": np.asarray(at_once(solid, poses)),
        "map": np.asarray(in_turn(solid, poses)),
        "eager": np.array([splat(solid, jnp.asarray(pose)) for pose in poses[:2]]),
    }
    for form, masks in forms.items():
        differing = (masks != expected[: len(masks)]).sum((1, 2))
        assert differing.max() <= 4, form
    assert expected.any((1, 2)).all()


def test_points_give_the_mask_of_their_solid():
    solid, pose = shapes.solid_of(shapes.letter), some_poses(4)[3]
    assert (np.asarray(one(extrude(solid), pose)) != np.asarray(one(solid, pose))).sum() <= 4


def test_padding_does_not_show():
    points = shapes.grid(shapes.letter)
    small, large = make_solid(points, 7), make_solid(points, 7, size=16384)
    pose = some_poses(4)[3]
    np.testing.assert_array_equal(one(small, pose), one(large, pose))
    # Whatever lies behind the last real column is no part of the solid.
    dirty = np.array(small.x)
    dirty[len(points) :] = 11.0
    np.testing.assert_array_equal(
        one(small, pose), one(type(small)(x=dirty, y=small.y, count=small.count, seed=small.seed), pose)
    )


@pytest.mark.parametrize(("x", "u"), [(0.1, 160), (0.3, 162), (-0.1, 160), (-0.3, 158), (0.11, 161)])
def test_a_point_is_a_disk_of_13_pixels_at_the_pixel_rounded_half_to_even(x, u):
    mask = np.asarray(one(make_solid(np.array([[x, 0.0]]), 0), shapes.EYE))
    marked = {(int(a) - u, int(b) - 160) for b, a in np.argwhere(mask)}
    assert marked == {(du, dv) for du in range(-2, 3) for dv in range(-2, 3) if du * du + dv * dv <= 4}


def spot(direction, point=(0.0, 0.0)):
    """The centre (u, v) of the half of a column's mask that its front, the brighter end, is on after 30 degrees."""
    depth = np.sqrt(RADIUS**2 - np.square(point).sum())
    front = rotation(direction, 30) @ np.array([*point, depth])
    return 160 + 5 * front[0], 160 + 5 * front[1]


@pytest.mark.parametrize(
    ("direction", "beyond"),
    [
        ("YAW_POS", lambda u, v: u < 160),
        ("YAW_NEG", lambda u, v: u > 160),
        ("PITCH_POS", lambda u, v: v > 160),
        ("PITCH_NEG", lambda u, v: v < 160),
    ],
)
def test_a_turn_draws_a_column_to_both_sides_as_seen_from_the_front(direction, beyond):
    # The front end of the central column alone: the samples behind the plane are left out.
    points = extrude(make_solid(np.zeros((1, 2)), 0))
    front = type(points)(xyz=points.xyz, valid=points.valid & (points.xyz[:, 2] > 20))
    mask = np.asarray(one(front, rotation(direction, 30)))
    v, u = np.nonzero(mask)
    assert len(u) > 0
    assert not beyond(u, v).any()
    assert mask[tuple(int(np.rint(c)) for c in spot(direction)[::-1])]


@pytest.mark.parametrize(("direction", "rows"), [("ROLL_POS", "below"), ("ROLL_NEG", "above")])
def test_roll_turns_the_right_side_down_when_clockwise(direction, rows):
    mask = np.asarray(one(make_solid(np.array([[20.0, 0.0]]), 0), rotation(direction, 30)))
    v, u = np.nonzero(mask)
    assert (u > 160).all()
    assert (v > 160).all() if rows == "below" else (v < 160).all()


def test_no_target_is_clipped_in_any_pose():
    # |R p| <= 28 and 160 + 5 * 28 + 2 = 302 < 319: the bound of section 3.3 holds for every point of the ball.
    rng = np.random.default_rng(0)
    angle = np.arange(0, 2 * np.pi, 0.002)
    rim = make_solid(27.44 * np.stack([np.cos(angle), np.sin(angle)], 1), 1)
    poses = np.array([shapes.random_rotation(rng) for _ in range(1000)])
    reach = np.abs(np.einsum("rij,nj->rni", poses, shapes.cloud(rim)[::13])[..., :2]).max()
    assert 160 + 5 * reach + 2 < 319
    assert 160 - 5 * reach - 2 > 0
    masks = np.asarray(in_turn(rim, poses[:20].astype(np.float32)))
    assert masks.any((1, 2)).all()
    edge = np.concatenate([masks[:, [0, -1]].ravel(), masks[:, :, [0, -1]].ravel()])
    assert not edge.any()


def test_changing_solid_pose_or_seed_does_not_trace_anew():
    traced = []

    @jax.jit
    def counted(solid, pose):
        traced.append(1)
        return splat(solid, pose).sum(dtype=jnp.int32)

    for keep, seed, pose in zip(SOLIDS.values(), (1, 2, 2**32 - 1), some_poses(3), strict=True):
        counted(shapes.solid_of(keep, seed), pose)
    assert len(traced) == 1
