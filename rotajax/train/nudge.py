"""`Nudge`: from the three pictures together to the small rotation between the current pose and the target.

The grid's cells are 15 degrees wide and two or three degrees decide a game. Near the target the two silhouettes can be
compared directly: the pictures are stacked, so that turning all of them by d turns every feature by d, and the rotation
vector is read off as a first harmonic (its part in the plane of the screen) and a mean (the part about the view).
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rotajax.compare import angle_deg, relative_poses, skew
from rotajax.train.grid import TURNS
from rotajax.train.layers import Block, Dense, Norm, Turned, waves
from rotajax.train.polar import RINGS
from rotajax.types import Array, Float32, Key, Rotation, struct

# Offsets are learnt where they are less than FAR_DEG, and a pose is near within NEAR_DEG.
FAR_DEG, NEAR_DEG = 30.0, 20.0
# The head's numbers times this are radians: what is learnt is of the order of 1.
UNIT = np.float32(np.deg2rad(10.0))


@struct
class Offset:
    """How far poses are from the target: R S = exp(vector), S the symmetry that makes the angle least."""

    vector: Float32[Array, "*B 3"]  # rotation vector, radians
    spread: Float32[Array, "*B"]  # logarithm of the radians s; the density falls as exp(-|error| / s) / s^3
    near: Float32[Array, "*B"]  # logit of the pose being within NEAR_DEG of the target


class Nudge(eqx.Module):
    """The head: a layer of products, a residual block, five numbers a turn."""

    first: Turned
    norms: tuple[Norm, Norm, Norm]
    block: Block
    out: Dense

    def __init__(self, width: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 3)
        self.first = Turned(24, 3 * RINGS, 3 * width, 1, key=keys[0])
        self.norms = (Norm(width), Norm(width), Norm(width))
        self.block = Block(width, key=keys[1])
        out = Dense(width, 5, key=keys[2])
        # Far, and unsure, until it has learnt better: an untrained head is not followed.
        bias = jnp.array([0, 0, 0, 0, -4], jnp.float32)
        self.out = eqx.tree_at(lambda d: (d.weight, d.bias), out, (out.weight * jnp.float32(0.3), bias))

    def __call__(self, pictures: Float32[Array, "B rays inputs"]) -> Offset:
        """Return the offsets; the inputs are the rings of current silhouette, view and target."""
        # A small rotation shows as the difference of two pictures times an edge of one: a product of features.
        one, other, plain = jnp.split(self.first(pictures), 3, axis=-1)
        features = self.block(plain + self.norms[0](one) * self.norms[1](other))
        numbers = self.out(jax.nn.gelu(self.norms[2](features)))
        along, across, about, spread, near = jnp.moveaxis(numbers, -1, 0)
        cosine, sine = jnp.asarray(waves(TURNS, 2)[:, 1])
        mean = partial(jnp.mean, axis=1, dtype=jnp.float32)
        x = jnp.float32(2) * mean(along * cosine - across * sine)
        y = jnp.float32(2) * mean(along * sine + across * cosine)
        vector = UNIT * jnp.stack([x, y, mean(about)], axis=-1)
        return Offset(vector=vector, spread=mean(spread) + jnp.log(UNIT), near=mean(near))


def true_offset(R: Rotation, group: Float32[Array, "G 3 3"]) -> tuple[Float32[Array, "3"], Float32[Array, ""]]:
    """Return the rotation vector in radians from the nearest pose that looks like the target, and its angle in degrees.

    The vector is cut short within a twentieth of a degree of a half turn, where it is not learnt.
    """
    relative = relative_poses(R, group)
    angles = angle_deg(relative)
    nearest = jnp.argmin(angles)
    turn = jnp.deg2rad(angles[nearest])
    # The floor keeps half turns finite, and lies below the sine of any angle that this is divided for.
    ratio = jnp.where(turn < 1e-3, jnp.float32(1), turn / jnp.maximum(jnp.sin(turn), jnp.float32(9e-4)))
    return jnp.float32(0.5) * ratio * skew(relative[nearest]), angles[nearest]


def offset_loss(found: Offset, vector: Float32[Array, "B 3"], angle: Float32[Array, "B"]) -> tuple[Array, Array]:
    """Return the mean loss of the vectors, over poses within FAR_DEG, and that of being near, over all.

    The first is the negative log likelihood of an error whose density falls exponentially with its length.
    """
    learnt = (angle < FAR_DEG).astype(jnp.float32)
    error = jnp.sqrt(jnp.sum((found.vector - vector) ** 2, axis=-1, dtype=jnp.float32) + jnp.float32(1e-6))
    spread = jnp.clip(found.spread, -7, 1)
    unlikely = error * jnp.exp(-spread) + jnp.float32(3) * spread
    near = (angle < NEAR_DEG).astype(jnp.float32)
    doubt = jax.nn.softplus(found.near) - near * found.near
    return jnp.sum(learnt * unlikely) / jnp.maximum(jnp.sum(learnt), 1), jnp.mean(doubt)
