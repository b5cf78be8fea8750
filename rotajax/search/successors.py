"""The 24 successors of a pose: their rotations, silhouettes' IoUs and pose errors."""

import jax
import jax.numpy as jnp

from rotajax.compare import iou, pose_error_deg
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.geometry.solid import Solid
from rotajax.render.splat import splat
from rotajax.types import Array, Float32, Mask, Rotation


def successor_poses(R: Rotation) -> Float32[Array, "A 3 3"]:
    """Return Q(a) R for the 24 rotations, in the order of ACTIONS."""
    return compose(jnp.asarray(MATRICES), R[None])


def successor_ious(solid: Solid, target: Mask, R: Rotation) -> Float32[Array, "A"]:
    """Return the IoU of each successor's exact silhouette with the target, [0, 1]."""
    return jax.lax.map(lambda pose: iou(splat(solid, pose), target), successor_poses(R))


def successor_pose_errors(R: Rotation, group: Float32[Array, "G 3 3"]) -> Float32[Array, "A"]:
    """Return the pose error of each successor in degrees, [0, 180]."""
    return jax.vmap(pose_error_deg, (0, None))(successor_poses(R), group)
