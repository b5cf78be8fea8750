"""How well a pose explains a current silhouette and an auxiliary view, and the pose nearby that explains them best."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.geometry.rotation import compose
from rotajax.render.camera import SIZE
from rotajax.render.packed import unpack
from rotajax.render.shade import BACKGROUND, shade
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import span_packed
from rotajax.types import Array, Bool, Float32, Rotation, UInt8, struct

# Pictures are compared as means of POOL x POOL pixels: a degree moves the rim of a solid by half of that.
POOL = 4
CELLS = (SIZE // POOL) ** 2
# Grey levels that weigh as much as a pixel of silhouette.
CONTRAST = 100.0
# Steps, in radians, of the finite differences of one round of refinement each.
COARSE, FINE = (0.02, 0.01, 0.005), (0.005, 0.003)
LONGEST = 0.08
DAMPING = 1e-3


@struct
class Sight:
    """What a pose is held against: the pooled silhouette, and the pooled view behind it where there is one."""

    features: Float32[Array, "F"]
    area: Float32[Array, ""]  # of the silhouette, in cells


def sight(current: Bool[np.ndarray, "H W"], view: UInt8[np.ndarray, "H W"] | None) -> Sight:
    """Return the sight of the pictures of a turn."""
    parts = [_pooled(jnp.asarray(current))]
    if view is not None:
        parts.append(_toned(jnp.asarray(view)))
    features = np.concatenate([np.asarray(part) for part in parts])
    return Sight(features=features, area=np.float32(max(features[:CELLS].sum(), 1.0)))  # type: ignore[arg-type]


@jax.jit
def misfits(poses: Float32[Array, "n 3 3"], bones: Skeleton, seen: Sight) -> Float32[Array, "n"]:
    """Return how badly each pose explains the pictures: the mean difference over the silhouette, 0 where they agree."""
    return jax.lax.map(lambda R: _misfit(_features(R, bones, seen), seen), poses)


@partial(jax.jit, static_argnames="rounds")
def refine(
    poses: Float32[Array, "n 3 3"], bones: Skeleton, seen: Sight, *, rounds: tuple[float, ...]
) -> tuple[Float32[Array, "n 3 3"], Float32[Array, "n"]]:
    """Return the best poses near the given ones, and their misfits: damped Gauss-Newton rounds over turns about x, y, z
    with forward differences of the given steps; the best pose seen is kept.
    """
    return jax.lax.map(lambda R: _refine(R, bones, seen, rounds), poses)


def renders(poses: int, rounds: tuple[float, ...]) -> int:
    """Return how many poses `refine` draws."""
    return poses * (4 * len(rounds) + 1)


def _refine(R: Rotation, bones: Skeleton, seen: Sight, rounds: tuple[float, ...]) -> tuple[Array, Array]:
    best, least = R, jnp.float32(jnp.inf)
    axes = jnp.eye(3, dtype=jnp.float32)

    def round_(carry: tuple[Array, Array, Array], step: Array) -> tuple[tuple[Array, Array, Array], None]:
        R, best, least = carry
        at = _features(R, bones, seen)
        misfit = _misfit(at, seen)
        best, least = jnp.where(misfit < least, R, best), jnp.minimum(misfit, least)
        moved = jax.lax.map(lambda axis: _features(compose(_turn(axis * step), R), bones, seen), axes)
        slopes = (moved - at[None]) / step  # [3, F]
        normal = jnp.sum(slopes[:, None] * slopes[None], axis=-1)
        pull = jnp.sum(slopes * (seen.features - at)[None], axis=-1)
        # A turn that changes nothing, about the axis of a ring say, stays undone.
        normal = normal + (jnp.float32(DAMPING) * jnp.trace(normal) + jnp.float32(1e-6)) * axes
        turn = jnp.linalg.solve(normal, pull)
        length = jnp.sqrt(jnp.sum(turn * turn))
        turn = turn * jnp.minimum(jnp.float32(1), jnp.float32(LONGEST) / jnp.maximum(length, jnp.float32(1e-9)))
        return (compose(_turn(turn), R), best, least), None

    (R, best, least), _ = jax.lax.scan(round_, (R, best, least), jnp.asarray(rounds, jnp.float32))
    misfit = _misfit(_features(R, bones, seen), seen)
    return jnp.where(misfit < least, R, best), jnp.minimum(misfit, least)


def _turn(vector: Float32[Array, "3"]) -> Rotation:
    """Return the rotation about a vector by its length in radians, by the unit quaternion's formula."""
    half = jnp.sqrt(jnp.sum(vector * vector)) / jnp.float32(2)
    x, y, z = vector * (jnp.sinc(half / jnp.float32(np.pi)) / jnp.float32(2))
    w, two = jnp.cos(half), jnp.float32(2)
    rows = [
        [1 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)],
        [two * (x * y + w * z), 1 - two * (x * x + z * z), two * (y * z - w * x)],
        [two * (x * z - w * y), two * (y * z + w * x), 1 - two * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row) for row in rows]).astype(jnp.float32)


def _features(R: Rotation, bones: Skeleton, seen: Sight) -> Float32[Array, "F"]:
    """Return what the pictures of a pose would look like, as far as the sight has them."""
    parts = [_pooled(unpack(span_packed(bones, R)))]
    if seen.features.shape[0] > CELLS:
        parts.append(_toned(shade(bones, R)))
    return jnp.concatenate(parts)


def _misfit(features: Float32[Array, "F"], seen: Sight) -> Float32[Array, ""]:
    return jnp.sum(jnp.abs(features - seen.features)) / seen.area


def _pooled(picture: Array) -> Float32[Array, "F"]:
    side = SIZE // POOL
    return jnp.mean(picture.reshape(side, POOL, side, POOL).astype(jnp.float32), axis=(1, 3)).ravel()


def _toned(view: UInt8[Array, "H W"]) -> Float32[Array, "F"]:
    return (_pooled(view) - jnp.float32(BACKGROUND)) / jnp.float32(CONTRAST)
