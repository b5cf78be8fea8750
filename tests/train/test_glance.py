import jax
import numpy as np
import pytest

from rotajax.geometry.quaternion import to_matrix
from rotajax.render.shade import shade
from rotajax.tasks.suite import load_suite
from rotajax.train.glance import glance
from rotajax.train.picture import small
from rotajax.train.surface import surfaces

# Grey levels of 0 to 255, over all pixels of a picture and over those of all pictures that show the solid.
MEAN, MEAN_ON_SOLID = 2.0, 4.0


@pytest.fixture(scope="module")
def pictures():
    suite = load_suite("mini", limit=6)
    solids = [jax.tree.map(lambda leaf, i=i: leaf[i], suite.tasks.solid) for i in range(len(suite))]
    q = np.random.default_rng(3).normal(size=(len(suite), 4, 4))
    q[:, 0] = (1, 0, 0, 0)
    poses = to_matrix(q / np.linalg.norm(q, axis=-1, keepdims=True))

    def drawn(function, shapes):
        each = jax.jit(lambda s, R: jax.lax.map(lambda a: jax.lax.map(lambda r: function(a[0], r), a[1]), (s, R)))
        return np.asarray(each(shapes, poses), np.int32)

    return drawn(glance, surfaces(solids)), drawn(lambda s, r: small(shade(s, r)), suite.tasks.solid)


def test_quick_views_are_close_to_exact_ones(pictures):
    quick, exact = pictures
    difference = np.abs(quick - exact)
    assert difference.mean(axis=(2, 3)).max() < MEAN
    assert difference[exact > 25].mean() < MEAN_ON_SOLID


def test_quick_views_are_no_constant(pictures):
    quick, _ = pictures
    assert len({picture.tobytes() for picture in quick.reshape(-1, 80, 80)}) == quick.shape[0] * quick.shape[1]


def test_the_reduction_is_a_rounded_mean():
    picture = np.random.default_rng(0).integers(0, 256, (320, 320)).astype(np.uint8)
    blocks = picture.reshape(80, 4, 80, 4).astype(np.float64).mean(axis=(1, 3))
    np.testing.assert_array_equal(np.asarray(small(picture)), np.floor(blocks + 0.5).astype(np.uint8))
    assert set(np.unique(np.asarray(small(np.ones((320, 320), bool))))) == {255}
