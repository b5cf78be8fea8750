"""Packed masks: the same pictures as the boolean ones, bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rotajax.compare import iou
from rotajax.render import morphology, packed

H, WORDS = 320, 10
pack, unpack = jax.jit(packed.pack), jax.jit(packed.unpack)


def random_mask(seed, density, shape=(H, H)):
    return np.random.default_rng(seed).random(shape) < density


def upright(mask):
    return pack(mask).T


def test_the_least_significant_bit_is_the_leftmost_pixel():
    mask = np.zeros((2, 64), bool)
    mask[0, 0] = mask[0, 33] = mask[1, 31] = True
    assert pack(mask).tolist() == [[1, 2], [1 << 31, 0]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_packing_and_back_is_the_identity(seed, density):
    mask = random_mask(seed, density)
    words = pack(mask)
    assert words.dtype == jnp.uint32
    assert words.shape == (H, WORDS)
    np.testing.assert_array_equal(unpack(words), mask)


@pytest.mark.parametrize("density", [0.0, 0.001, 0.05, 0.5, 0.95, 0.999, 1.0])
@pytest.mark.parametrize("name", ["dilate_disk", "close_cross"])
def test_morphology_is_the_boolean_one_to_the_border(name, density):
    fast, slow = jax.jit(getattr(packed, name)), jax.jit(getattr(morphology, name))
    for seed in range(3):
        mask = random_mask(seed, density)
        np.testing.assert_array_equal(unpack(fast(upright(mask)).T), slow(mask))


@pytest.mark.parametrize("cell", [(0, 0), (0, 319), (319, 0), (319, 319), (7, 31), (7, 32), (0, 160), (160, 319)])
def test_one_pixel_at_borders_corners_and_word_edges(cell):
    mask = np.zeros((H, H), bool)
    mask[cell] = True
    v, u = np.indices((H, H))
    disk = (v - cell[0]) ** 2 + (u - cell[1]) ** 2 <= 4
    np.testing.assert_array_equal(unpack(packed.dilate_disk(upright(mask)).T), disk)
    np.testing.assert_array_equal(unpack(packed.close_cross(upright(mask)).T), mask)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.3, 0.9]))
def test_closing_only_adds_and_is_idempotent(seed, density):
    words = upright(random_mask(seed, density))
    closed = packed.close_cross(words)
    assert not (np.asarray(words) & ~np.asarray(closed)).any()
    np.testing.assert_array_equal(packed.close_cross(closed), closed)


@pytest.mark.parametrize("width", [10, 13])
def test_rows_move_by_their_own_amounts(width):
    mask = random_mask(4, 0.4, (H, 13 * 32))
    amounts = np.random.default_rng(5).integers(-192, 193, H).astype(np.int32)
    amounts[:6] = 0, 32, -32, 192, -192, 31
    shift = jax.jit(packed.shift_rows, static_argnames=("width", "reach"))
    moved = unpack(shift(upright(mask), amounts, width=width, reach=6).T)
    cell = np.arange(width * 32)[None] - amounts[:, None]
    known = (cell >= 0) & (cell < mask.shape[1])
    expected = known & np.take_along_axis(mask, np.clip(cell, 0, mask.shape[1] - 1), axis=1)
    np.testing.assert_array_equal(moved, expected)


@pytest.mark.parametrize("size", [32, 96, H])
def test_the_flip_is_the_transpose(size):
    mask = random_mask(6, 0.3, (size, size))
    np.testing.assert_array_equal(unpack(packed.flip_diagonal(pack(mask).T)), mask.T)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.5]), st.sampled_from([0.0, 0.02, 0.6]))
def test_iou_of_words_is_the_iou_of_masks(seed, one, other):
    a, b = random_mask(seed, one), random_mask(seed + 1, other)
    assert float(iou(pack(a), pack(b))) == float(iou(jnp.asarray(a), jnp.asarray(b)))
