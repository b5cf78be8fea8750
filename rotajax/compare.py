"""How far a picture or a pose is from its target: silhouette IoU and the symmetry-aware pose error."""

import jax
import jax.numpy as jnp

from rotajax.checks import require
from rotajax.types import Array, Float32, Mask, Rotation, UInt32


def iou(a: Mask | UInt32[Array, "H words"], b: Mask | UInt32[Array, "H words"]) -> Float32[Array, ""]:
    """Return the intersection over union in [0, 1] of two silhouettes, as masks or as packed words (Equation 3).

    Both empty is 1, one empty is 0. Raises ValueError for two of different shapes or kinds, which would broadcast.
    """
    same = (a.shape, a.dtype) == (b.shape, b.dtype) and a.dtype in (jnp.bool_, jnp.uint32)
    got = f"{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
    require(same, "iou", "two masks (bool), or two of packed words (uint32), of one shape", got)
    if a.dtype == jnp.bool_:
        inter, union = jnp.sum(a & b, dtype=jnp.int32), jnp.sum(a | b, dtype=jnp.int32)
    else:
        count = jax.lax.population_count
        inter, union = jnp.sum(count(a & b), dtype=jnp.uint32), jnp.sum(count(a | b), dtype=jnp.uint32)
    return jnp.where(union == 0, jnp.float32(1), inter.astype(jnp.float32) / jnp.maximum(union, 1).astype(jnp.float32))


def angle_deg(matrix: Float32[Array, "*B 3 3"]) -> Float32[Array, "*B"]:
    """Return the angle of a rotation, or of each of many, in degrees, [0, 180], exact near 0 and near 180.

    atan2 of the skew part (2 sin) and the trace (1 + 2 cos): the arccosine of a float32 trace loses 1e-4 rad near 0.
    The gradient is finite everywhere; at the identity and at half turns it is 0 by definition.
    """
    squared = jnp.sum(skew(matrix) ** 2, axis=-1, dtype=jnp.float32)
    positive = squared > 0
    double_sine = jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, jnp.float32(1))), jnp.float32(0))
    double_cosine = matrix[..., 0, 0] + matrix[..., 1, 1] + matrix[..., 2, 2] - jnp.float32(1)
    return jnp.rad2deg(jnp.arctan2(double_sine, double_cosine)).astype(jnp.float32)


def skew(matrix: Float32[Array, "*B 3 3"]) -> Float32[Array, "*B 3"]:
    """Return the skew part of a rotation, or of each of many: its axis times twice the sine of its angle."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return jnp.stack([matrix[..., i, j] - matrix[..., j, i] for i, j in pairs], axis=-1)


def relative_poses(R: Rotation, group: Float32[Array, "G 3 3"]) -> Float32[Array, "G 3 3"]:
    """Return the rotations from each target pose S of the group to a pose: R S^T."""
    return jax.vmap(lambda S: _times_transpose(R, S))(group)


def pose_error_deg(R: Rotation, group: Float32[Array, "G 3 3"]) -> Float32[Array, ""]:
    """Return the smallest rotation in degrees, [0, 180], from a pose to a target pose S of the group (Equation 6)."""
    require(R.shape == (3, 3), "pose", "one of shape (3, 3)", R.shape)
    return jnp.min(angle_deg(relative_poses(R, group)))


def _times_transpose(a: Rotation, b: Rotation) -> Rotation:
    """Return a b^T with the sums written out."""
    return a[:, 0, None] * b[None, :, 0] + a[:, 1, None] * b[None, :, 1] + a[:, 2, None] * b[None, :, 2]
