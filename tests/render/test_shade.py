import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shapes
from reference import renderer
from rotajax.geometry.rotation import rotation
from rotajax.geometry.solid import Points, extrude
from rotajax.render.shade import shade, shade_surface
from rotajax.render.skeleton import skeleton

one, surface = jax.jit(shade), jax.jit(shade_surface)
at_once = jax.jit(jax.vmap(shade, (None, 0)))
in_turn = jax.jit(lambda solid, poses: jax.lax.map(functools.partial(shade, solid), poses))
SOLIDS = {"letter": shapes.letter, "bar": shapes.bar, "ring": shapes.ring}
TILT = shapes.about((1, 2, 3), 50).astype(np.float32)
POSES = np.array([np.eye(3), rotation("YAW_POS", 90), rotation("PITCH_NEG", 30), TILT], np.float32)


def dots(*rows):
    """Points at the given (x, y, z), padded to a single size."""
    xyz = np.zeros((64, 3), np.float32)
    xyz[: len(rows)] = np.reshape(rows, (-1, 3))
    return Points(xyz=xyz, valid=np.arange(64) < len(rows))


@pytest.mark.parametrize("name", SOLIDS)
def test_views_are_the_reference_s_in_jit_vmap_map_and_eager(name):
    solid = shapes.solid_of(SOLIDS[name])
    points = shapes.cloud(solid)
    expected = np.array([renderer.view(points, pose) for pose in POSES]).astype(int)
    forms = {
        "jit": np.array([one(solid, pose) for pose in POSES]),
        "vmap": np.asarray(at_once(solid, POSES)),
        "map": np.asarray(in_turn(solid, POSES)),
        "eager": np.array([shade(solid, jnp.asarray(pose)) for pose in POSES[3:]]),
    }
    for form, views in forms.items():
        off = np.abs(views.astype(int) - expected[-len(views) :]) > 1
        assert off.mean((1, 2)).max() <= 0.001, form
        assert views.dtype == np.uint8


def test_points_give_the_view_of_their_solid():
    solid = shapes.solid_of(shapes.letter)
    difference = np.asarray(one(extrude(solid), TILT)).astype(int) - np.asarray(one(solid, TILT))
    assert (np.abs(difference) > 1).mean() <= 0.001


@pytest.mark.parametrize("name", SOLIDS)
def test_the_view_of_the_surface_is_nearly_the_whole_one_and_nowhere_brighter(name):
    solid = shapes.solid_of(SOLIDS[name])
    whole = np.array([one(solid, pose) for pose in POSES]).astype(int)
    columns = skeleton(solid)
    seen = np.array([surface(solid, columns, pose) for pose in POSES]).astype(int)
    assert (seen <= whole).all()
    assert (whole - seen > 1).mean() <= 0.02
    # The skeleton alone, without the caps of the other columns, is further off.
    bones = np.array([one(columns, pose) for pose in POSES]).astype(int)
    assert (bones <= seen).all()
    assert (whole - seen).sum() < (whole - bones).sum()


def test_single_points_are_the_reference_s_to_the_bit():
    rows = np.array([[0, 0, 0], [10, -5, 3], [-12.25, 7, -9], [0.3, 0, 10], [26, 8, 25], [-26, 1, -25], [40, 0, 0]])
    for row in rows:
        view = np.asarray(one(dots(row), shapes.EYE))
        np.testing.assert_array_equal(view, renderer.view(row[None], shapes.EYE))
    np.testing.assert_array_equal(one(dots(*rows), shapes.EYE), renderer.view(rows, shapes.EYE))


def test_an_empty_view_is_background_up_to_the_borders():
    assert (np.asarray(one(dots(), shapes.EYE)) == 18).all()


def brightest(view):
    """(u, v) of the brightest pixels' centre."""
    v, u = np.nonzero(view == view.max())
    return u.mean(), v.mean()


def test_larger_z_is_brighter_and_hides_what_is_behind():
    near, far = [10, 0, 10], [-10, 0, -10]
    view = np.asarray(one(dots(near, far), shapes.EYE)).astype(int)
    assert view[160, 205] > view[160, 115] > 18
    over = np.asarray(one(dots([0, 0, 10], [0, 0, -10]), shapes.EYE))
    np.testing.assert_array_equal(over, one(dots([0, 0, 10]), shapes.EYE))


@pytest.mark.parametrize(
    ("direction", "across", "down"),
    [("YAW_POS", 1, 0), ("YAW_NEG", -1, 0), ("PITCH_POS", 0, -1), ("PITCH_NEG", 0, 1)],
)
def test_the_bright_front_goes_where_the_direction_says(direction, across, down):
    # A front dot and one as far behind: the bright one moves right, left, up and down.
    u, v = brightest(np.asarray(one(dots([0, 0, 20], [0, 0, -20]), rotation(direction, 30))))
    assert (u, v) == (160 + 45 * across, 160 + 45 * down)


@pytest.mark.parametrize(("direction", "down"), [("ROLL_POS", 1), ("ROLL_NEG", -1)])
def test_the_bright_right_dot_goes_down_with_a_clockwise_roll(direction, down):
    u, v = brightest(np.asarray(one(dots([20, 0, 10], [-20, 0, -10]), rotation(direction, 90))))
    assert (u, v) == (160, 160 + 90 * down)


def test_changing_solid_pose_or_seed_does_not_trace_anew():
    traced = []

    @jax.jit
    def counted(solid, pose):
        traced.append(1)
        return shade(solid, pose).sum(dtype=jnp.int32)

    for keep, seed, pose in zip(SOLIDS.values(), (1, 2, 2**32 - 1), POSES, strict=False):
        counted(shapes.solid_of(keep, seed), pose)
    assert len(traced) == 1
