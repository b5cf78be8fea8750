"""Measures by hand, and the filters at their thresholds."""

from dataclasses import replace

import numpy as np
import pytest

from rotajax.icons import Measures, judge, measure

GOOD = Measures(foreground=2000, component_ratio=0.985, circle_occupancy=0.28, box_occupancy=0.08, aspect=2.2)


def blank() -> np.ndarray:
    return np.zeros((512, 512), bool)


def disc(mask: np.ndarray, u: int, v: int, radius: int) -> np.ndarray:
    rows, columns = np.ogrid[:512, :512]
    mask |= (columns - u) ** 2 + (rows - v) ** 2 <= radius**2
    return mask


def test_disc_fills_its_circle():
    measures = measure(disc(blank(), 300, 200, 150))
    assert measures.component_ratio == 1
    assert measures.circle_occupancy == pytest.approx((27.44 / 28) ** 2, abs=0.03)
    assert measures.box_occupancy == pytest.approx(np.pi / 4, abs=0.02)
    assert measures.aspect == 1
    assert judge(measures) is None


def test_size_and_place_do_not_matter():
    small, large = measure(disc(blank(), 100, 100, 60)), measure(disc(blank(), 256, 256, 240))
    assert small.circle_occupancy == pytest.approx(large.circle_occupancy, abs=0.02)


def test_square_by_hand():
    mask = blank()
    mask[100:300, 100:300] = True
    measures = measure(mask)
    # The side of the square in a circle of 27.44 is 38.8 = 77.6 cells; it covers 78 or 79 of them a side.
    assert measures.foreground == 40_000
    assert measures.box_occupancy == 1
    assert measures.circle_occupancy * np.pi * 56**2 == pytest.approx(78**2, abs=2 * 78)


def test_components_are_weighed_in_points():
    mask = blank()
    mask[100:300, 100:300] = True
    mask[350:360, 100:200] = True
    measures = measure(mask)
    assert measures.component_ratio == pytest.approx(40_000 / 41_000)
    assert judge(measures) == "component_ratio"


def test_diagonal_cells_are_one_component():
    mask = blank()
    for step in range(8):
        mask[40 + 50 * step : 90 + 50 * step, 40 + 50 * step : 90 + 50 * step] = True
    assert measure(mask).component_ratio == 1


def test_bar_is_too_long():
    mask = blank()
    mask[200:300, 20:480] = True
    measures = measure(mask)
    assert measures.aspect == pytest.approx(4.6, abs=0.1)
    assert judge(replace(measures, circle_occupancy=0.5)) == "aspect"


def test_all_is_measured_when_the_first_filter_fails():
    measures = measure(disc(blank(), 256, 256, 10))
    assert measures.foreground < 2000
    assert None not in (measures.component_ratio, measures.circle_occupancy, measures.box_occupancy, measures.aspect)
    assert judge(measures) == "foreground"


@pytest.mark.parametrize(("pixels", "reason"), [(0, "empty"), (1, "foreground")])
def test_masks_without_a_circle(pixels, reason):
    mask = blank()
    mask[7, 7] = pixels
    measures = measure(mask)
    assert (measures.foreground, measures.aspect, measures.component_ratio) == (pixels, None, None)
    assert judge(measures) == reason


def test_thresholds_are_inside():
    assert judge(GOOD) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("foreground", 1999),
        ("component_ratio", 0.9849),
        ("circle_occupancy", 0.2799),
        ("box_occupancy", 0.0799),
        ("aspect", 2.2001),
        ("circle_occupancy", None),
        ("aspect", None),
    ],
)
def test_each_filter_names_itself(name, value):
    assert judge(replace(GOOD, **{name: value})) == name


def test_the_first_filter_that_fails_is_named():
    assert judge(replace(GOOD, component_ratio=0.5, aspect=9.0)) == "component_ratio"
