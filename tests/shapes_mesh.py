"""Round solids whose area and volume are known by formula."""

import numpy as np

from rotajax.geometry.solid import RADIUS, make_solid

PITCH = 0.2


def ring(inner, outer):
    """The columns between two circles round the axis."""
    axis = np.arange(-137, 138) * PITCH
    x, y = np.meshgrid(axis, axis)
    chosen = (np.hypot(x, y) <= outer) & (np.hypot(x, y) >= inner)
    return make_solid(np.stack([x[chosen], y[chosen]], 1), 0)


def cap(radius):
    """The area of the sphere's cap over a circle."""
    return 2 * np.pi * RADIUS * (RADIUS - np.sqrt(RADIUS**2 - radius**2))


def wall(radius):
    """The area of the cylinder over a circle, inside the sphere."""
    return 4 * np.pi * radius * np.sqrt(RADIUS**2 - radius**2)


def sphere_ring(inner, outer):
    """Area and volume of the solid of `ring`."""
    content = 4 / 3 * np.pi * ((RADIUS**2 - inner**2) ** 1.5 - (RADIUS**2 - outer**2) ** 1.5)
    return 2 * (cap(outer) - cap(inner)) + wall(outer) + wall(inner), content
