import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import KDTree

from rotajax.geometry.symmetry import Symmetry, estimate, group, group_size, require_closed
from rotajax.icons.foreground import foreground
from rotajax.icons.outline import outline_points, plane_circle, plane_points
from rotajax.icons.svg import rasterise

PITCH = 0.25  # nearest-neighbour distance of the point sets here: tau = 0.75
DRAWN = Path(__file__).parents[2] / "data" / "icons"
INTENDED = json.loads((DRAWN / "symmetries.json").read_text(encoding="utf-8"))


def lattice():
    axis = np.arange(-112, 113) * PITCH
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def polar(radius):
    """The lattice points with r < radius(theta)."""
    points = lattice()
    return points[np.hypot(*points.T) < radius(np.arctan2(points[:, 1], points[:, 0]))]


def flower(n, axis_deg=0.0):
    """n-fold with mirrors: one axis at the given angle."""
    return polar(lambda t: 18 + 5 * np.cos(n * (t - np.radians(axis_deg))))


def pinwheel(n):
    """n-fold without a mirror: the second harmonic is odd about the axes of the first."""
    return polar(lambda t: 17 + 4 * np.cos(n * t) + 3 * np.sin(2 * n * t))


def frame():
    x, y = np.abs(lattice().T)
    return lattice()[(x < 20.1) & (y < 10.1) & ~((x < 17.9) & (y < 7.9))]


def knob(points, height, half_width):
    """The points with a bump on the right side, centred on the x axis."""
    x, y = lattice().T
    return np.concatenate([points, lattice()[(x > 20.1) & (x < 20.1 + height) & (np.abs(y) < half_width)]])


def literal_pass(points, matrix):
    """Appendix D word for word: both point sets, both directions, all points."""
    moved = points @ matrix.T
    h = np.median(KDTree(points).query(points, k=2)[0][:, 1])
    tau = 3 * h + 1e-6
    ways = (KDTree(points).query(moved)[0], KDTree(moved).query(points)[0])
    return all(np.percentile(d, 99) <= tau and d.max() <= 2 * tau for d in ways)


def alpha_difference(found, expected, order):
    period = 360.0 / order
    return abs((found - expected + period / 2) % period - period / 2)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 12])
def test_order_and_axes_of_flowers(n):
    found = estimate(flower(n, axis_deg=11.0))
    assert found.order == n
    assert alpha_difference(found.mirror_angle_deg, 22.0, n) < 0.5


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_pinwheels_have_no_mirror(n):
    assert estimate(pinwheel(n)) == Symmetry(n, None)


def test_orders_past_twelve_keep_the_largest_divisor_tested():
    assert estimate(polar(lambda t: 20 + 4 * np.cos(14 * t))).order == 7


def test_a_mirror_without_rotation():
    found = estimate(polar(lambda t: 15 + 4 * np.cos(t - 0.5) + 4 * np.cos(2 * (t - 0.5)) + 2 * np.cos(3 * (t - 0.5))))
    assert found.order == 1
    assert alpha_difference(found.mirror_angle_deg, np.degrees(1.0), 1) < 0.5
    assert found.axes_deg[0] == found.mirror_angle_deg / 2


def test_an_asymmetric_shape_keeps_the_identity_only():
    found = estimate(polar(lambda t: 15 + 4 * np.cos(t) + 4 * np.sin(2 * t) + 4 * np.cos(3 * t + 1)))
    assert found == Symmetry(1, None)
    assert group_size(found) == 1


def test_a_disc_fills_the_group():
    found = estimate(polar(lambda t: np.full_like(t, 27.4)))
    assert found.order == 12
    assert found.mirror_angle_deg is not None
    assert group_size(found) == 24


def test_a_rectangle_and_a_square():
    x, y = np.abs(lattice().T)
    assert estimate(lattice()[(x < 20) & (y < 10)]) == Symmetry(2, 0.0)
    assert estimate(lattice()[(x < 15) & (y < 15)]) == Symmetry(4, 0.0)


def test_a_bump_within_twice_the_tolerance_is_no_bump():
    # tau = 0.75. A few points 1.0 out: below 2 tau, and under one percent of the points.
    assert estimate(knob(frame(), 1.0, 1.0)) == Symmetry(2, 0.0)


def test_a_bump_past_twice_the_tolerance_breaks_the_rotation_and_keeps_the_axis_through_it():
    assert estimate(knob(frame(), 2.0, 1.0)) == Symmetry(1, 0.0)


def test_a_wide_bump_past_the_tolerance_breaks_it_too():
    # 1.0 out along the whole side: below 2 tau, but more than one percent of the points past tau.
    assert estimate(knob(frame(), 1.0, 10.1)) == Symmetry(1, 0.0)


def test_what_the_sample_misses_is_found_with_all_points():
    points = flower(3)
    sampled = np.arange(1500) * len(points) // 1499  # indices in the longer list below
    place = next(i for i in range(7, 50) if i not in sampled)
    # A point above the middle of the side, on no axis: it breaks the rotation and the mirrors.
    stray = np.insert(points, place, [3.0, 26.0], axis=0)
    assert estimate(points).order == 3
    assert estimate(stray) == Symmetry(1, None)


@pytest.mark.parametrize("points", [flower(5, 7.0), pinwheel(4), knob(frame(), 1.0, 1.0)])
def test_every_symmetry_kept_passes_the_literal_check(points):
    found = estimate(points)
    for matrix in group(found)[: group_size(found)]:
        assert literal_pass(points, matrix[:2, :2].astype(np.float64))
    for order in range(found.order + 1, 13):
        turns = group(Symmetry(order))[1:order, :2, :2].astype(np.float64)
        assert not all(literal_pass(points, turn) for turn in turns)


@pytest.mark.parametrize("turn", [13.0, 201.5])
def test_turning_the_points_turns_the_axes(turn):
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    for points in (flower(3, 5.0), polar(lambda t: 18 + 4 * np.cos(t) + 4 * np.cos(2 * t))):
        before, after = estimate(points), estimate(points @ np.array([[c, s], [-s, c]]))
        assert after.order == before.order
        assert alpha_difference(after.mirror_angle_deg, before.mirror_angle_deg + 2 * turn, before.order) < 0.5


def test_scale_does_not_matter_and_the_result_repeats():
    points = flower(5, 3.0)
    assert estimate(points) == estimate(points.copy()) == estimate(points * 4.0)


@pytest.mark.parametrize("order", range(1, 13))
@pytest.mark.parametrize("mirror", [None, 0.0, 17.35])
def test_group_is_a_padded_closed_set_of_rotations(order, mirror):
    symmetry = Symmetry(order, mirror)
    matrices, size = group(symmetry), group_size(symmetry)
    assert matrices.shape == (24, 3, 3)
    assert matrices.dtype == np.float32
    assert size == order * (1 if mirror is None else 2)
    np.testing.assert_array_equal(matrices[0], np.eye(3))
    np.testing.assert_array_equal(matrices[size:], np.broadcast_to(np.eye(3), (24 - size, 3, 3)))
    assert len({m.tobytes() for m in np.round(matrices[:size], 4) + 0.0}) == size
    exact = matrices[:size].astype(np.float64)
    np.testing.assert_allclose(np.linalg.det(exact), 1.0, atol=1e-6)
    np.testing.assert_allclose(exact @ exact.transpose(0, 2, 1), np.broadcast_to(np.eye(3), exact.shape), atol=1e-6)
    require_closed(exact)


def test_a_reflection_becomes_a_half_turn_about_its_axis():
    # alpha = 60: the axis lies at 30 degrees; points on it stay, depth is reversed.
    half_turn = group(Symmetry(1, 60.0))[1].astype(np.float64)
    on_axis = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0])
    np.testing.assert_allclose(half_turn @ on_axis, on_axis, atol=1e-6)
    np.testing.assert_allclose(half_turn @ [0, 0, 1], [0, 0, -1], atol=1e-6)


def test_a_set_that_is_not_closed_is_refused():
    quarter = group(Symmetry(4))[:2].astype(np.float64)
    with pytest.raises(ValueError, match=r"symmetry\.group: products: expected a closed set to 1e-06, got 2"):
        require_closed(quarter)


@pytest.mark.parametrize(
    ("points", "got"),
    [
        (np.zeros((5, 3)), r"got \[5, 3\]"),
        (np.zeros((1, 2)), r"got \[1, 2\]"),
        (np.array([[0.0, 1.0], [np.nan, 0.0]]), "got NaN or infinity"),
    ],
)
def test_bad_points_are_named(points, got):
    with pytest.raises(ValueError, match=r"symmetry\.estimate: points: expected .*" + got):
        estimate(points)


def test_an_order_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"symmetry\.group: order: expected 1 to 12, got 13"):
        group(Symmetry(13))


@pytest.mark.parametrize("name", sorted(INTENDED))
def test_drawn_icons_have_the_symmetry_they_were_drawn_with(name):
    mask = foreground(rasterise((DRAWN / "rotajax" / f"{name}.svg").read_bytes()))
    points = outline_points(mask)
    found = estimate(plane_points(points, plane_circle(points)))
    assert {"order": found.order, "mirror": found.mirror_angle_deg is not None} == INTENDED[name]
    if found.mirror_angle_deg is not None:  # drawn about the vertical
        assert alpha_difference(found.mirror_angle_deg, 180.0, found.order) < 0.5
