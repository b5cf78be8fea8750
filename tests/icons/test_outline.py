"""Points of a mask, the cap rule, and the enclosing circle against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rotajax.icons import enclosing_circle, foreground, outline_points, plane_circle, plane_points
from rotajax.icons.outline import cap_indices

numbers = st.one_of(st.integers(-20, 20).map(float), st.floats(-24, 24, allow_subnormal=False))
clouds = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9).map(lambda rows: np.array(rows, np.float64))


def brute_radius(points: np.ndarray) -> float:
    """Return the smallest radius over all circles through two or three of the points that hold all of them."""
    points = np.unique(points, axis=0)
    best = np.inf if len(points) > 1 else 0.0
    centres = [(a + b) / 2 for a, b in combinations(points, 2)]
    for a, b, c in combinations(points, 3):
        system = 2 * np.array([b - a, c - a])
        if abs(np.linalg.det(system)) > 1e-9:
            centres.append(a + np.linalg.solve(system, [(b - a) @ (b - a), (c - a) @ (c - a)]))
    for centre in centres:
        best = min(best, np.hypot(*(points - centre).T).max())
    return float(best)


@settings(deadline=None, max_examples=300)
@given(clouds)
@example(np.array([(0.0, 2.0), (3.0, 4.86e-8), (0.0, 0.0)]))
def test_circle_holds_all_points_and_is_minimal(points):
    cx, cy, radius = enclosing_circle(points)
    assert np.hypot(points[:, 0] - cx, points[:, 1] - cy).max() <= radius
    # Of a triangle that is right-angled but for rounding the circles through two and three corners have one radius: the
    # square root of the precision is what is left to tell them apart.
    assert radius == pytest.approx(brute_radius(points), rel=3e-8, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(clouds, st.randoms())
def test_circle_does_not_depend_on_the_order(points, random):
    shuffled = points.tolist()
    random.shuffle(shuffled)
    assert enclosing_circle(np.array(shuffled)) == pytest.approx(enclosing_circle(points), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("points", "circle"),
    [
        ([[3, 4]], (3, 4, 0)),
        ([[3, 4], [3, 4], [3, 4], [3, 4]], (3, 4, 0)),
        ([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], (2, 2, 8**0.5)),
        ([[0, 5], [1, 5], [9, 5], [4, 5]], (4.5, 5, 4.5)),
        ([[-1, 0], [1, 0], [0, 1], [0, -1]], (0, 0, 1)),
        ([[0, 0], [4, 0], [2, 12**0.5]], (2, 2 / 3**0.5, 4 / 3**0.5)),
    ],
)
def test_circle_by_hand(points, circle):
    assert enclosing_circle(np.array(points, np.float64)) == pytest.approx(circle)


def test_circle_of_a_full_disc():
    v, u = np.mgrid[-200:201, -200:201]
    inside = u * u + v * v <= 200 * 200
    assert enclosing_circle(np.stack([u[inside], v[inside]], 1).astype(float)) == pytest.approx((0, 0, 200))


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros((3, 3)), np.array([[0.0, np.nan]])])
def test_circle_of_no_points(points):
    with pytest.raises(ValueError, match="expected finite points"):
        enclosing_circle(points)


@given(st.integers(2, 60), st.integers(0, 200))
def test_cap_rule(m, extra):
    n = m + extra
    assert cap_indices(n, m).tolist() == [k * (n - 1) // (m - 1) for k in range(m)]
    assert cap_indices(m, n).tolist() == list(range(m))


def test_points_come_row_by_row_and_rounded():
    mask = np.zeros((512, 512), bool)
    mask[0, 511] = mask[256, 256] = mask[256, 257] = mask[511, 0] = True
    expected = [[23.9062, -24.0], [0.0, 0.0], [0.0938, 0.0], [-24.0, 23.9062]]
    assert outline_points(mask).tolist() == expected


def test_points_of_a_full_mask_are_capped():
    points = outline_points(np.ones((512, 512), bool))
    assert len(points) == 90_000
    for k in (1, 44_999):
        row, column = divmod(k * (512 * 512 - 1) // 89_999, 512)
        assert points[k].tolist() == [round(24 * (column - 256) / 256, 4), round(24 * (row - 256) / 256, 4)]
    assert points[-1].tolist() == [23.9062, 23.9062]


def test_plane_points_fill_the_circle():
    mask = np.zeros((512, 512), bool)
    mask[10:40, 300:390] = True
    points = outline_points(mask)
    circle = plane_circle(points)
    plane = plane_points(points, circle)
    assert circle[2] == pytest.approx(1.24 * 24 / 256 * np.hypot(89, 29) / 2, rel=1e-5)
    assert np.hypot(*plane.T).max() == pytest.approx(27.44)
    assert enclosing_circle(plane) == pytest.approx((0, 0, 27.44), abs=1e-9)


def test_plane_points_of_a_single_pixel():
    with pytest.raises(ValueError, match="positive radius"):
        plane_points(np.zeros((1, 2)), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("mask", [np.zeros((512, 512)), np.zeros((4, 4), bool)])
def test_points_of_another_mask(mask):
    with pytest.raises(ValueError, match="expected bool"):
        outline_points(mask)


def test_foreground_thresholds():
    picture = np.zeros((6, 6, 4), np.uint8)
    picture[..., :3] = 100
    picture[..., 3] = 255
    picture[0, 0] = (255, 0, 0, 255)  # one covered corner does not move the background
    picture[2, 2] = (110, 110, 110, 255)  # 30: too near
    picture[2, 3] = (90, 110, 111, 255)  # 31
    picture[3, 2] = (255, 255, 255, 8)  # not opaque enough
    picture[3, 3] = (255, 255, 255, 9)
    assert np.argwhere(foreground(picture)).tolist() == [[0, 0], [2, 3], [3, 3]]


def test_foreground_of_another_shape():
    with pytest.raises(ValueError, match=r"expected uint8 \[H, W, 4\]"):
        foreground(np.zeros((4, 4, 3), np.uint8))
