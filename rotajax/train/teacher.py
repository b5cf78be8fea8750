"""Teachers that know the pose: the rotation that they would take, for relabelling whatever states a policy meets."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from rotajax.search.successors import successor_pose_errors, successor_poses
from rotajax.types import Array, Float32, Int32, Rotation

Teacher = Callable[[Rotation, Float32[Array, "24 3 3"]], Int32[Array, ""]]


def pose_greedy(R: Rotation, group: Float32[Array, "24 3 3"]) -> Int32[Array, ""]:
    """Return the rotation whose successor has the smallest pose error, the lowest index on ties."""
    return jnp.argmin(successor_pose_errors(R, group)).astype(jnp.int32)


def searched(R: Rotation, group: Float32[Array, "24 3 3"]) -> Int32[Array, ""]:
    """Return the first rotation of the best word of two: the one after which the other comes nearest to the target."""
    after = jax.vmap(successor_pose_errors, (0, None))(successor_poses(R), group)
    return jnp.argmin(jnp.min(after, axis=1)).astype(jnp.int32)


TEACHERS: dict[str, Teacher] = {"pose_greedy": pose_greedy, "searched": searched}
