"""What the renderers do with poses that are none: a clear error for a shape, never a write outside a picture."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import shapes
from rotajax.geometry.solid import extrude
from rotajax.render.certified import certified_packed
from rotajax.render.shade import shade, shade_surface
from rotajax.render.skeleton import skeleton
from rotajax.render.span import span
from rotajax.render.splat import splat

SOLID = shapes.solid_of(shapes.bar)
BONES = skeleton(SOLID)
RENDERERS = {
    "splat": lambda R: splat(SOLID, R),
    "splat of points": lambda R: splat(extrude(SOLID), R),
    "span": lambda R: span(BONES, R),
    "certified": lambda R: certified_packed(SOLID, BONES, R),
    "shade": lambda R: shade(SOLID, R),
    "shade_surface": lambda R: shade_surface(SOLID, BONES, R),
}


def test_a_pose_of_another_shape_is_refused():
    # In a process of its own: here the annotations are checked first.
    program = """
import numpy as np
import rotajax as rx
solid = rx.make_solid(np.zeros((1, 2)), 0)
for draw in (rx.splat, rx.span, rx.shade):
    try:
        draw(solid, np.eye(4))
    except ValueError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["pose: expected a rotation of shape (3, 3), got shape (4, 4)"] * 3


@pytest.mark.parametrize("name", RENDERERS)
def test_a_pose_that_is_no_rotation_writes_nowhere_else(name):
    draw = jax.jit(RENDERERS[name])
    good = np.asarray(draw(shapes.EYE))
    for wrong in (np.nan, np.inf, -np.inf, 1e3, -1e3, 1e30, 3e38):
        assert np.asarray(draw(np.full((3, 3), wrong, np.float32))).shape == good.shape
    np.testing.assert_array_equal(draw(shapes.EYE), good)
    np.testing.assert_array_equal(draw(shapes.EYE.astype(np.float64)), good)
