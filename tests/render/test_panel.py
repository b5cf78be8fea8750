import jax
import numpy as np

from reference import renderer
from rotajax.render.panel import panel


def test_the_panel_is_that_of_the_reference():
    rng = np.random.default_rng(0)
    target, current = rng.random((2, 320, 320)) < 0.5
    view = rng.integers(0, 256, (320, 320)).astype(np.uint8)
    expected = renderer.panel(target, view, current)
    for form in (panel, jax.jit(panel)):
        picture = np.asarray(form(target, view, current))
        assert picture.dtype == np.uint8
        np.testing.assert_array_equal(picture, expected)


def test_the_panel_s_layout_is_that_of_the_appendix():
    picture = np.asarray(
        panel(np.ones((320, 320), bool), np.full((320, 320), 77, np.uint8), np.zeros((320, 320), bool))
    )
    assert picture.shape == (320, 972)
    assert (picture[:, :320] == 255).all()
    assert (picture[:, 320:326] == 12).all()
    assert (picture[:, 326:646] == 77).all()
    assert (picture[:, 646:652] == 12).all()
    assert (picture[:, 652:] == 0).all()
