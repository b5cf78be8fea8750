"""How well a pose explains a current silhouette and an auxiliary view, and the pose nearby that explains them best."""

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
# Steps, in radians, of the finite differences of one round of refinement each; 0 is no round. One length: one program.
COARSE, FINE = np.array([0.02, 0.01, 0.005], np.float32), np.array([0.005, 0.003, 0], np.float32)
NONE = np.zeros(3, np.float32)
LONGEST = 0.08
DAMPING = 1e-3


@struct
class Sight:
    """What a pose is held against: the pooled silhouette, and the pooled view behind it, zeros where there is none."""

    features: Float32[Array, "F"]
    shaded: Bool[Array, ""]  # whether there is a view
    area: Float32[Array, ""]  # of the silhouette, in cells


def sight(current: Bool[np.ndarray, "H W"], view: UInt8[np.ndarray, "H W"] | None) -> Sight:
    """Return the sight of the pictures of a turn."""
    parts = [_pooled(current.astype(np.float32)), np.zeros(CELLS, np.float32) if view is None else _toned(view)]
    area = np.float32(max(parts[0].sum(), 1.0))
    return Sight(features=np.concatenate(parts), shaded=np.bool_(view is not None), area=area)  # type: ignore[arg-type]


@jax.jit
def refine(
    R: Rotation, bones: Skeleton, seen: Sight, rounds: Float32[Array, "3"]
) -> tuple[Rotation, Float32[Array, ""]]:
    """Return the best pose near one, and its misfit: damped Gauss-Newton rounds over turns about x, y and z, with
    forward differences of the given steps in radians, up to the first 0; the best pose drawn is kept. A misfit is the
    mean difference over the silhouette, 0 where the pictures agree.
    """
    axes = jnp.eye(3, dtype=jnp.float32)
    count = jnp.sum(rounds > 0, dtype=jnp.int32)
    rounds = jnp.concatenate([rounds, jnp.zeros(1, jnp.float32)])

    def round_(k: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        R, best, least = carry
        # The last round only draws where the others have led.
        step = jnp.maximum(rounds[k], jnp.float32(1e-6))
        turns = jnp.concatenate([jnp.zeros((1, 3), jnp.float32), axes * step])

        def draw(j: Array, drawn: Array) -> Array:
            return drawn.at[j].set(_features(compose(_turn(turns[j]), R), bones, seen))

        many = jnp.where(k < count, jnp.int32(4), jnp.int32(1))
        drawn = jax.lax.fori_loop(jnp.int32(0), many, draw, jnp.zeros((4, 2 * CELLS), jnp.float32))
        misfit = jnp.sum(jnp.abs(drawn[0] - seen.features)) / seen.area
        best, least = jnp.where(misfit < least, R, best), jnp.minimum(misfit, least)
        return compose(_turn(_step(drawn, step, seen)), R), best, least

    _, best, least = jax.lax.fori_loop(jnp.int32(0), count + 1, round_, (R, R, jnp.float32(jnp.inf)))
    return best, least


def _step(drawn: Float32[Array, "4 F"], step: Float32[Array, ""], seen: Sight) -> Float32[Array, "3"]:
    """Return the turn that the pictures of a pose and of three small turns after it suggest."""
    slopes = (drawn[1:] - drawn[:1]) / step
    normal = jnp.sum(slopes[:, None] * slopes[None], axis=-1)
    pull = jnp.sum(slopes * (seen.features - drawn[0])[None], axis=-1)
    # A turn that changes nothing, about the axis of a ring say, stays undone.
    normal = normal + (jnp.float32(DAMPING) * jnp.trace(normal) + jnp.float32(1e-6)) * jnp.eye(3, dtype=jnp.float32)
    turn = jnp.linalg.solve(normal, pull)
    length = jnp.sqrt(jnp.sum(turn * turn))
    return turn * jnp.minimum(jnp.float32(1), jnp.float32(LONGEST) / jnp.maximum(length, jnp.float32(1e-9)))


def renders(poses: int, rounds: np.ndarray) -> int:
    """Return how many poses `refine` draws for so many."""
    return poses * (4 * int((rounds > 0).sum()) + 1)


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
    silhouette = _pooled(unpack(span_packed(bones, R)).astype(jnp.float32))
    tones = jax.lax.cond(seen.shaded, lambda: _toned(shade(bones, R)), lambda: jnp.zeros(CELLS, jnp.float32))
    return jnp.concatenate([silhouette, tones])


def _pooled(picture: Array | np.ndarray) -> Float32[Array, "F"]:
    side = SIZE // POOL
    return picture.reshape(side, POOL, side, POOL).mean(axis=(1, 3), dtype=np.float32).ravel()  # type: ignore[return-value]


def _toned(view: Array | np.ndarray) -> Float32[Array, "F"]:
    return (_pooled(view.astype(np.float32)) - np.float32(BACKGROUND)) / np.float32(CONTRAST)
