"""The exact silhouette of Appendix G as others would write it, to be timed beside `rotajax.splat`.

A peer is a module with `masks(points, cores)`: it takes the sampled points once, in whatever layout suits it, and
returns a function from poses Float32[P, 3, 3] to masks Bool[P, 320, 320]. Every peer is written to be hard to beat:
one pixel a point and one dilation where thirteen writes a point would do, what depends on a column alone computed once
where the library has loops, blocks that stay in cache where it has not, and no bounds check. None imports jax.
"""

from dataclasses import dataclass

import numpy as np

SIZE = 320
CENTRE = np.float32(160)
SCALE = np.float32(5)
VIEW_SCALE = np.float32(4.5)
BACKGROUND = 18
DISK = tuple((dv, du) for dv in range(-2, 3) for du in range(-2, 3) if du * du + dv * dv <= 4)
# Points within the sphere project to pixels 20 to 300 under every pose: neither they nor their disks leave the picture.
RADIUS = 28.0


@dataclass(frozen=True)
class Points:
    """The sampled points of a solid by column: x, y Float32[C], z Float32[C, 31], inside the sphere."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray

    def __post_init__(self):
        furthest = float(np.sqrt((self.x**2 + self.y**2 + (self.z**2).max(axis=1)).max()))
        if furthest > RADIUS * 1.0001:
            raise ValueError(f"peers: points: expected at most {RADIUS} from the centre, got {furthest}")

    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return x, y, z Float32[N] of every point."""
        samples = self.z.shape[1]
        return np.repeat(self.x, samples), np.repeat(self.y, samples), self.z.ravel()
