import cv2
import jax
import numpy as np
import pytest

from rotajax.render.morphology import CROSS, DISK, close_cross, dilate_disk, dilate_grey, smooth

# One program a shape: pictures of 24 x 40 show every border case that 320 x 320 has.
disk, close, grey, blur = (
    jax.jit(dilate_disk),
    jax.jit(close_cross),
    jax.jit(dilate_grey),
    jax.jit(smooth),
)
SHAPE = (24, 40)
# What is left of no mark: a disk keeps its largest.
NONE = -1000


def kernel(offsets, size):
    shape = np.zeros((size, size), np.uint8)
    for dv, du in offsets:
        shape[dv + size // 2, du + size // 2] = 1
    return shape


def pictures():
    rng = np.random.default_rng(0)
    for density in (0.002, 0.05, 0.3, 0.7, 0.98):
        yield rng.random(SHAPE) < density
    border = np.zeros(SHAPE, bool)
    border[[0, -1]] = border[:, [0, -1]] = True
    corners = np.zeros(SHAPE, bool)
    corners[0, 0] = corners[-1, -1] = corners[0, -1] = corners[-1, 0] = True
    yield from (border, corners, ~border, ~corners, np.zeros(SHAPE, bool), np.ones(SHAPE, bool))


def test_the_shapes_are_those_of_the_appendix():
    assert len(DISK) == 13
    np.testing.assert_array_equal(kernel(CROSS, 3), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3)))


@pytest.mark.parametrize("picture", list(pictures()))
def test_masks_grow_and_close_as_in_opencv(picture):
    wide = cv2.dilate(picture.astype(np.uint8), kernel(DISK, 5)) > 0
    np.testing.assert_array_equal(disk(picture), wide)
    closed = cv2.morphologyEx(picture.astype(np.uint8), cv2.MORPH_CLOSE, kernel(CROSS, 3)) > 0
    np.testing.assert_array_equal(close(picture), closed)


def test_closing_fills_a_pixel_with_four_neighbours_and_keeps_a_free_column():
    picture = np.zeros(SHAPE, bool)
    picture[[4, 6, 5, 5], [5, 5, 4, 6]] = True
    picture[10:15, 10] = picture[10:15, 12] = True
    closed = np.asarray(close(picture))
    assert closed[5, 5]
    assert not closed[10, 11]  # an end of the free column: the cross does not reach round it
    assert (closed & picture).sum() == picture.sum()


def test_grey_falls_off_with_the_distance_and_overlaps_keep_the_maximum():
    picture = np.full(SHAPE, -1000, np.int32)
    picture[5, 5], picture[5, 6] = 100, 104
    grown = np.asarray(grey(np.pad(picture, 2, constant_values=-1000)))
    assert grown.shape == SHAPE
    assert grown[3:8, 3:9].tolist() == [
        [NONE, NONE, 96, 100, NONE, NONE],
        [NONE, 97, 101, 102, 101, NONE],
        [96, 100, 102, 104, 102, 100],
        [NONE, 97, 101, 102, 101, NONE],
        [NONE, NONE, 96, 100, NONE, NONE],
    ]


def test_a_mark_in_the_margin_counts_inside():
    framed = np.full((28, 44), -1000, np.int32)
    framed[0, 10] = 100
    assert np.argwhere(np.asarray(grey(framed)) > 0).tolist() == [[0, 8]]


@pytest.mark.parametrize("seed", range(8))
def test_one_smoothing_is_opencv_s_gaussian_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 256, SHAPE).astype(np.int32)
    if seed == 0:
        picture[:] = 255
    np.testing.assert_array_equal(blur(picture), cv2.GaussianBlur(picture.astype(np.uint8), (3, 3), 0))
