import jax
import jax.numpy as jnp
import numpy as np

from rotajax.train import grid
from rotajax.train.net import PoseNet, parameters

SHAPE = {"width": 16, "depth": 2, "match": 8, "nudge": 8}


def blob(turns):
    """A soft picture without a symmetry, turned clockwise by quarter turns, which are exact on pixels."""
    v, u = np.mgrid[:80, :80] - 39.5
    picture = np.exp(-((u - 14) ** 2 + v**2) / 60) + 0.6 * np.exp(-(u**2 + (v - 20) ** 2) / 90)
    return np.rot90((255 * picture).clip(0, 255), -turns).astype(np.uint8)


def posterior(net, target, current):
    # A background view: the depth channel is blank, and has no part that goes with x.
    view = jnp.full((1, 80, 80), 18, jnp.uint8)
    logits, _ = net(jnp.asarray(target)[None], view, jnp.asarray(current)[None])
    return np.asarray(logits).reshape(len(grid.TILTS), grid.TURNS, grid.TURNS)


def test_turning_a_picture_shifts_the_posterior():
    net = PoseNet(**SHAPE, auxiliary=True, key=jax.random.key(1))
    quarter = grid.TURNS // 4
    plain = posterior(net, blob(0), blob(0))
    assert plain.std() > 0.01
    # The centre of the solid is pixel 160, half a pixel beside the centre of the picture: not exactly a shift.
    loose = 0.2 * plain.std()
    np.testing.assert_allclose(posterior(net, blob(0), blob(1)), np.roll(plain, quarter, axis=1), atol=loose)
    np.testing.assert_allclose(posterior(net, blob(1), blob(0)), np.roll(plain, -quarter, axis=2), atol=loose)


def test_without_the_auxiliary_view_it_does_not_matter():
    pictures = [jnp.asarray(np.random.default_rng(i).integers(0, 255, (1, 80, 80)), jnp.uint8) for i in range(4)]
    target, one, other, current = pictures
    blind = PoseNet(**SHAPE, auxiliary=False, key=jax.random.key(0))
    for a, b in zip(*(jax.tree.leaves(blind(target, view, current)) for view in (one, other)), strict=True):
        np.testing.assert_array_equal(a, b)
    seeing = PoseNet(**SHAPE, auxiliary=True, key=jax.random.key(0))
    for a, b in zip(*(jax.tree.leaves(seeing(target, view, current)) for view in (one, other)), strict=True):
        assert np.abs(a - b).max() > 1e-3


def test_parameters_are_counted():
    assert parameters(PoseNet(**SHAPE, auxiliary=True, key=jax.random.key(0))) > 10_000
