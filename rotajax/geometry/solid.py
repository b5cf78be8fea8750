"""A solid as columns: the outline points of an icon, each extruded inside the bounding sphere (Equations 5 and 10)."""

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.checks import require
from rotajax.types import Array, Bool, Float32, Int32, UInt32, struct

RADIUS = 28.0
SAMPLES = 31
# Column counts a solid is padded to, so that one compiled shape serves many solids.
BUCKETS = (8192, 16384, 32768, 49152, 65536, 90112)
# Every size is a multiple of this: kernels stream a solid in chunks of so many columns.
CHUNK = 8192


@struct
class Solid:
    """Columns (x, y, |z| <= h) of a solid. Coordinates are in solid units, |(x, y)| <= 0.98 * 28."""

    x: Float32[Array, "*B C"]
    y: Float32[Array, "*B C"]
    count: Int32[Array, "*B"]  # the first `count` columns are real, the rest is padding
    seed: UInt32[Array, "*B"]


@struct
class Points:
    """The sampled point cloud of a solid, N = 31 C."""

    xyz: Float32[Array, "N 3"]
    valid: Bool[Array, "N"]


def bucket(columns: int) -> int:
    """Return the smallest bucket size that holds a number of columns."""
    require(0 < columns <= BUCKETS[-1], "solid: number of columns", f"1 to {BUCKETS[-1]}", columns)
    return next(size for size in BUCKETS if size >= columns)


def make_solid(points: np.ndarray, seed: int, *, size: int | None = None) -> Solid:
    """Return the solid over centred plane points, Float[N, 2], padded to `size` columns (default: a bucket size).

    Raises ValueError for no points, too many, a point outside the sphere's shadow, or a seed beyond 32 bits.
    """
    points = np.asarray(points)
    require(points.ndim == 2 and points.shape[1] == 2, "solid: points", "an array [N, 2]", points.shape)
    require(points.dtype.kind in "iuf", "solid: points", "real numbers", points.dtype)
    size = bucket(len(points)) if size is None else size
    require(size % CHUNK == 0, "solid: padded size", f"a multiple of {CHUNK}", size)
    require(0 < len(points) <= size, "solid: number of points", f"1 to {size}", len(points))
    reach = float(np.sqrt((points.astype(np.float64) ** 2).sum(1).max()))
    require(reach <= RADIUS, "solid: distance of a point from the centre", f"at most {RADIUS}", reach)
    require(hasattr(seed, "__index__") and 0 <= seed < 2**32, "solid: seed", f"0 to {2**32 - 1}", repr(seed))
    xy = np.zeros((2, size), np.float32)
    xy[:, : len(points)] = points.T
    return Solid(x=xy[0], y=xy[1], count=np.int32(len(points)), seed=np.uint32(seed))  # type: ignore[arg-type]


def half_depth(x: Float32[Array, "..."], y: Float32[Array, "..."]) -> Float32[Array, "..."]:
    """Return the half-depth of columns: sqrt(max(r^2 - x^2 - y^2, 0)), Equation 5."""
    return jnp.sqrt(jnp.maximum(jnp.float32(RADIUS**2) - x * x - y * y, jnp.float32(0)))


def depth_fraction(seed: UInt32[Array, ""], i: UInt32[Array, "..."], j: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Return 2 q_ij - 1 in [-1, 1): -1 for sample 0, +1 for sample 1, pseudorandom for the others (Equation 10).

    q is the upper 24 bits of an integer mix of (seed, i, j) on uint32, so that it is the same on every backend.
    """
    ends = jnp.where(j == jnp.uint32(0), jnp.float32(-1), jnp.float32(1))
    return jnp.where(j < jnp.uint32(2), ends, _fraction(_mix(seed, i, j)))


def depth_extremes(seed: UInt32[Array, ""], i: UInt32[Array, "C"]) -> tuple[Float32[Array, "C"], Float32[Array, "C"]]:
    """Return the least and the largest `depth_fraction` of the samples of columns i between their two ends."""
    # Written out: a loop would send both through memory once a sample.
    least = most = _mix(seed, i, jnp.uint32(2))
    for j in range(3, SAMPLES):
        word = _mix(seed, i, jnp.uint32(j))
        least, most = jnp.minimum(least, word), jnp.maximum(most, word)
    return _fraction(least), _fraction(most)


def _mix(seed: UInt32[Array, ""], i: UInt32[Array, "..."], j: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    u = jnp.uint32
    word = (seed ^ (i * u(0x9E3779B1))) + j * u(0x85EBCA77)
    word = (word ^ (word >> u(16))) * u(0x21F0AAAD)
    word = (word ^ (word >> u(15))) * u(0x735A2D97)
    return word ^ (word >> u(15))


def _fraction(word: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Return 2 q - 1, which grows with the word."""
    return (word >> jnp.uint32(8)).astype(jnp.float32) * jnp.float32(2.0**-23) - jnp.float32(1)


def extrude(solid: Solid) -> Points:
    """Return the point cloud of a solid: 31 samples a column, the two ends first (Appendix G).

    The renderers take a `Solid` and never hold this array; it is for export, shading and checks.
    """
    columns = solid.x.shape[0]
    i = jnp.arange(columns, dtype=jnp.uint32)
    j = jnp.arange(SAMPLES, dtype=jnp.uint32)
    z = jax.vmap(lambda jj: depth_fraction(solid.seed, i, jj) * half_depth(solid.x, solid.y), out_axes=1)(j)
    xyz = jnp.stack(
        [jnp.broadcast_to(solid.x[:, None], z.shape), jnp.broadcast_to(solid.y[:, None], z.shape), z], axis=-1
    )
    valid = jnp.broadcast_to((i < solid.count.astype(jnp.uint32))[:, None], z.shape)
    return Points(xyz=xyz.reshape(-1, 3), valid=valid.reshape(-1))
