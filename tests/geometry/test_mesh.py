import numpy as np
import pytest

from shapes_mesh import ring, sphere_ring

pytest.importorskip("skimage")

from rotajax.geometry.mesh import surface
from rotajax.geometry.solid import RADIUS, make_solid


def edges(mesh):
    """Every directed edge, as one number."""
    pairs = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]).astype(np.int64)
    size = len(mesh.vertices)
    return pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]


def volume(mesh):
    """By the divergence theorem: positive where the triangles face outwards."""
    return (mesh.corners[:, 0] * mesh.crosses).sum() / 6.0


@pytest.mark.parametrize(("inner", "outer", "genus"), [(0.0, 27.4, 0), (0.0, 15.0, 0), (10.0, 25.0, 1)])
def test_a_round_solid_has_the_area_volume_and_holes_of_the_formula(inner, outer, genus):
    mesh = surface(ring(inner, outer))
    forward, backward = edges(mesh)
    # Closed: every edge once in each direction.
    assert len(np.unique(forward)) == len(forward)
    assert np.array_equal(np.sort(forward), np.sort(backward))
    assert len(mesh.vertices) - len(forward) // 2 + len(mesh.faces) == 2 - 2 * genus
    area, content = sphere_ring(inner, outer)
    assert mesh.areas.sum() == pytest.approx(area, rel=5e-3)
    assert volume(mesh) == pytest.approx(content, rel=5e-3)
    assert np.linalg.norm(mesh.vertices, axis=1).max() <= RADIUS + 0.01


def test_a_finer_grid_comes_closer_and_a_coarser_one_stays_closed():
    area, _ = sphere_ring(10.0, 25.0)
    errors = [abs(surface(ring(10.0, 25.0), spacing=s).areas.sum() / area - 1) for s in (3.0, 0.75)]
    assert errors[1] < errors[0]
    forward, backward = edges(surface(ring(10.0, 25.0), spacing=3.0))
    assert np.array_equal(np.sort(forward), np.sort(backward))


def test_two_pieces_are_two_surfaces():
    solid = ring(0.0, 8.0)
    count = int(solid.count)
    left = np.stack([np.asarray(solid.x)[:count] - 12.0, np.asarray(solid.y)[:count]], 1)
    mesh = surface(make_solid(np.concatenate([left, left + np.array([24.0, 0.0])]), 0))
    assert len(mesh.vertices) - len(edges(mesh)[0]) // 2 + len(mesh.faces) == 4


def test_what_has_no_surface_is_refused():
    with pytest.raises(ValueError, match=r"surface: spacing: expected 0\.25 to 4 solid units, got 0\.1"):
        surface(ring(0.0, 8.0), spacing=0.1)
    speck = make_solid(np.array([[0.3, 0.3], [0.31, 0.3]]), 0)
    with pytest.raises(ValueError, match=r"expected one wider than the grid spacing 0\.75 somewhere, got none"):
        surface(speck)
