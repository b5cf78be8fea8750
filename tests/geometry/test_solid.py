import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import shapes
from rotajax.geometry.solid import BUCKETS, CHUNK, SAMPLES, bucket, depth_fraction, extrude, half_depth, make_solid

many = jax.jit(depth_fraction)
cloud = jax.jit(extrude)
SEEDS = [0, 1, 7, 2**31, 2**32 - 1]
COLUMNS = np.arange(BUCKETS[-1], dtype=np.uint32)
SAMPLE = np.arange(SAMPLES, dtype=np.uint32)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hash_has_the_same_bits_in_numpy_eager_and_jit(seed):
    i, j = COLUMNS[::97, None], SAMPLE[None]
    with jax.numpy_rank_promotion("allow"):
        jitted = np.asarray(many(jnp.uint32(seed), jnp.asarray(i), jnp.asarray(j)))
        eager = np.asarray(depth_fraction(jnp.uint32(seed), jnp.asarray(i), jnp.asarray(j)))
    np.testing.assert_array_equal(jitted.view(np.uint32), eager.view(np.uint32))
    np.testing.assert_array_equal(jitted.view(np.uint32), shapes.fractions(seed, i, j).view(np.uint32))


def test_the_hash_is_written_down():
    # Values of the formula worked out in Python's unbounded integers.
    def q(seed, i, j):
        word = ((seed ^ (i * 0x9E3779B1 % 2**32)) + j * 0x85EBCA77) % 2**32
        word = (word ^ word >> 16) * 0x21F0AAAD % 2**32
        word = (word ^ word >> 15) * 0x735A2D97 % 2**32
        return ((word ^ word >> 15) >> 8) / 2**24

    for seed, i, j in [(0, 0, 2), (7, 1, 2), (2**32 - 1, 89_999, 30), (123456789, 4096, 17)]:
        got = many(jnp.uint32(seed), jnp.uint32(i), jnp.uint32(j))
        assert float(got) == 2 * q(seed, i, j) - 1


def test_the_first_two_samples_are_the_ends_and_the_others_lie_between():
    fraction = shapes.fractions(3, COLUMNS[:, None], SAMPLE[None])
    assert (fraction[:, 0] == -1).all()
    assert (fraction[:, 1] == 1).all()
    assert fraction[:, 2:].min() >= -1
    assert fraction[:, 2:].max() < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_q_is_uniform(seed):
    q = (shapes.fractions(seed, COLUMNS[:, None], SAMPLE[None, 2:]) + 1) / 2
    counts = np.histogram(q, bins=256, range=(0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    # And within one sample index, and within one column's neighbourhood.
    for part in (q[:, 0], q[:, 28], q[:500].ravel()):
        assert stats.chisquare(np.histogram(part, bins=64, range=(0, 1))[0]).pvalue > 1e-4


@pytest.mark.parametrize("seed", SEEDS)
def test_q_is_not_correlated_along_columns_or_samples(seed):
    q = shapes.fractions(seed, COLUMNS[:, None], SAMPLE[None, 2:]).astype(np.float64)
    for lag in (1, 2, 3, 64, 512):
        assert abs(_correlation(q[:-lag], q[lag:])) < 5 / np.sqrt(q[lag:].size)
    for lag in (1, 2, 7):
        assert abs(_correlation(q[:, :-lag], q[:, lag:])) < 5 / np.sqrt(q[:, lag:].size)
    other = shapes.fractions((seed + 1) % 2**32, COLUMNS[:, None], SAMPLE[None, 2:]).astype(np.float64)
    assert abs(_correlation(q, other)) < 5 / np.sqrt(q.size)


def test_extrude_gives_31_samples_a_column_inside_the_sphere():
    solid = shapes.solid_of(shapes.letter)
    points = cloud(solid)
    n = int(solid.count)
    xyz, valid = np.asarray(points.xyz), np.asarray(points.valid)
    assert xyz.shape == (CHUNK * SAMPLES, 3)
    assert valid.sum() == n * SAMPLES
    assert valid[: n * SAMPLES].all()
    assert np.linalg.norm(xyz[valid], axis=1).max() <= 28 * (1 + 1e-6)
    np.testing.assert_allclose(xyz[valid], shapes.cloud(solid), atol=1e-5)


def test_half_depth_is_that_of_the_sphere_and_never_nan():
    solid = make_solid(np.array([[0, 0], [3, 4], [28, 0], [-16.8, 22.4], [0, 27.44]]), 0)
    np.testing.assert_allclose(half_depth(solid.x, solid.y)[:3], [28, np.sqrt(784 - 25), 0], atol=1e-5)
    assert np.isfinite(half_depth(solid.x, solid.y)).all()


def test_points_keep_their_order_and_the_rest_is_padding():
    points = shapes.grid(shapes.bar)
    solid = make_solid(points, 2**32 - 1, size=2 * CHUNK)
    assert (solid.count, solid.seed, len(solid.x)) == (len(points), 2**32 - 1, 2 * CHUNK)
    np.testing.assert_array_equal(solid.x[: len(points)], points[:, 0].astype(np.float32))
    np.testing.assert_array_equal(solid.y[: len(points)], points[:, 1].astype(np.float32))
    assert not solid.x[len(points) :].any()


@pytest.mark.parametrize(("columns", "size"), [(1, 8192), (8192, 8192), (8193, 16384), (90_000, 90112)])
def test_the_bucket_is_the_smallest_that_holds_the_columns(columns, size):
    assert bucket(columns) == size


@pytest.mark.parametrize(
    ("points", "seed", "size", "message"),
    [
        (np.zeros((0, 2)), 0, None, "solid: number of columns: expected 1 to 90112, got 0"),
        (np.zeros((90_113, 2)), 0, None, "solid: number of columns: expected 1 to 90112, got 90113"),
        (np.zeros((3, 3)), 0, None, r"solid: points: expected an array [N, 2], got (3, 3)"),
        (np.zeros((3, 2)), 0, 100, "solid: padded size: expected a multiple of 8192, got 100"),
        (np.zeros((8193, 2)), 0, 8192, "solid: number of points: expected 1 to 8192, got 8193"),
        (np.array([[20.0, 20.0]]), 0, None, "solid: distance of a point from the centre: expected at most 28.0, got"),
        (np.array([[np.nan, 0.0]]), 0, None, "solid: distance of a point from the centre: expected at most 28.0, got"),
        (np.array([["1", "2"]]), 0, None, "solid: points: expected real numbers, got <U1"),
        (np.zeros((1, 2), complex), 0, None, "solid: points: expected real numbers, got complex128"),
        (
            np.full((1, 2), np.nan),
            0,
            None,
            "solid: distance of a point from the centre: expected at most 28.0, got nan",
        ),
        (np.zeros((1, 2)), -1, None, "solid: seed: expected 0 to 4294967295, got -1"),
        (np.zeros((1, 2)), 2**32, None, "solid: seed: expected 0 to 4294967295, got 4294967296"),
    ],
)
def test_what_makes_no_solid_is_refused_by_name(points, seed, size, message):
    with pytest.raises(ValueError) as caught:
        make_solid(points, seed, size=size)
    assert str(caught.value).startswith(message)


def _correlation(a, b):
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
