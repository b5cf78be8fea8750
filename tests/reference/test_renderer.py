import numpy as np
import pytest

from . import renderer, rotation

EYE = np.eye(3)
DIAMOND = {(du, dv) for du in range(-2, 3) for dv in range(-2, 3) if abs(du) + abs(dv) <= 2}


def points(*rows):
    return np.array(rows, dtype=np.float64)


def marked(mask):
    return {(int(u), int(v)) for v, u in np.argwhere(mask)}


def test_one_point_is_a_disk_of_13_pixels_at_the_centre():
    assert marked(renderer.mask(points([0, 0, 7]), EYE)) == {(160 + du, 160 + dv) for du, dv in DIAMOND}


@pytest.mark.parametrize(("x", "u"), [(0.1, 160), (0.3, 162), (-0.1, 160), (-0.3, 158), (0.11, 161)])
def test_coordinates_round_half_to_even(x, u):
    rotated = renderer.project_points(points([x, -x, 0]), EYE)
    assert [int(c[0]) for c in renderer.pixels(rotated, 5.0)] == [u, 320 - u]


def test_projection_is_float32_and_turns_the_front_right():
    rotated = renderer.project_points(points([0, 0, 10]), rotation.matrix("YAW_POS", 30))
    assert rotated.dtype == np.float32
    np.testing.assert_allclose(rotated, [[5.0, 0.0, 8.660254]], atol=1e-6)
    assert (185, 160) in marked(renderer.mask(points([0, 0, 10]), rotation.matrix("YAW_POS", 30)))


def test_pixels_out_of_bounds_are_discarded_one_by_one():
    # u = 321: of the disk only the pixel two columns to the left lies in the picture.
    assert marked(renderer.mask(points([32.2, 0, 0]), EYE)) == {(319, 160)}
    assert not renderer.mask(points([0, -40, 0]), EYE).any()


def test_closing_uses_the_cross():
    # Disks 6 columns apart leave one free column. A 3x3 square would close it; the cross keeps both disks as they are.
    assert renderer.mask(points([-0.6, 0, 0], [0.6, 0, 0]), EYE).sum() == 26
    # A pixel whose four neighbours are marked is filled.
    assert renderer.mask(points([-0.6, 0, 0], [0.6, 0, 0], [0, 0.6, 0], [0, -0.6, 0]), EYE)[160, 160]


def test_brightness_falls_off_inside_the_disk():
    picture = renderer.shaded(points([0, 0, 0]), EYE)
    assert picture[158:163, 158:163].tolist() == [
        [18, 18, 106, 18, 18],
        [18, 107, 108, 107, 18],
        [106, 108, 110, 108, 106],
        [18, 107, 108, 107, 18],
        [18, 18, 106, 18, 18],
    ]
    assert (picture != 18).sum() == 13


def test_brightness_follows_depth_and_x_is_clipped_and_truncated():
    # 110 + 6 z + 1.8 x at u = 160 + 4.5 x.
    for (x, z), (u, g) in {
        (10, 0): (205, 128),
        (0, 10): (160, 170),
        (0, 0.16): (160, 110),
        (0, -0.15): (160, 109),
        (0, 25): (160, 235),
        (0, -25): (160, 40),
    }.items():
        assert renderer.shaded(points([x, 0, z]), EYE)[160, u] == g


def test_the_brightest_point_wins_in_either_order():
    near, far = [0, 0, 10], [0.3, 0, 0]  # one column apart: u = 160 and 161
    for rows in ((near, far), (far, near)):
        assert renderer.shaded(points(*rows), EYE)[160, 160:164].tolist() == [170, 168, 166, 106]


def test_smoothing_is_two_rounded_binomial_passes():
    # Pass 1: (4 110 + 2 4 108 + 4 107) / 16 = 108.25 -> 108; sides 96.5 -> 97; corners 79.5 -> 80.
    # Pass 2 at the centre: (4 108 + 2 4 97 + 4 80) / 16 = 95.5 -> 96.
    assert renderer.view(points([0, 0, 0]), EYE)[160, 160] == 96
    assert (renderer.view(points([100, 0, 0]), EYE) == 18).all()


def test_panel_layout():
    target, mask = np.zeros((320, 320), bool), np.ones((320, 320), bool)
    panel = renderer.panel(target, np.full((320, 320), 77, np.uint8), mask)
    assert panel.shape == (320, 972)
    assert panel.dtype == np.uint8
    assert panel[5, [0, 319, 320, 325, 326, 645, 646, 651, 652, 971]].tolist() == [
        0,
        0,
        12,
        12,
        77,
        77,
        12,
        12,
        255,
        255,
    ]


def test_iou_counts():
    a, b = np.zeros((320, 320), bool), np.zeros((320, 320), bool)
    assert renderer.iou(a, b) == 1.0
    a[0, :3] = True
    assert renderer.iou(a, b) == 0.0
    b[0, 2:4] = True
    assert renderer.iou(a, b) == 0.25
