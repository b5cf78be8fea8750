"""`span_iou`: how well a pose fits a silhouette, by spans, in whole pictures or in pictures half as wide."""

import jax.numpy as jnp

from rotajax.compare import iou
from rotajax.geometry.solid import Solid
from rotajax.render.camera import SIZE
from rotajax.render.packed import flip_diagonal, pack
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import COARSE, FINE, turned_picture
from rotajax.types import Array, Bool, Float32, Mask, Rotation, UInt32, struct


@struct
class Goal:
    """A silhouette in both forms in which spans draw: as it is, and flipped by its diagonal."""

    upright: UInt32[Array, "words rows"]
    flipped: UInt32[Array, "words rows"]


def make_goal(mask: Bool[Array, "H W"]) -> Goal:
    """Return a silhouette, 320 or 160 pixels wide, as what `span_iou` compares with."""
    packed = pack(mask)
    return Goal(upright=packed.T, flipped=flip_diagonal(packed.T).T)


def halved(mask: Mask) -> Bool[Array, "160 160"]:
    """Return a silhouette half as wide: pixels of which any quarter is set."""
    return mask.reshape(SIZE // 2, 2, SIZE // 2, 2).any(axis=(1, 3))


def span_iou(shape: Solid | Skeleton, R: Rotation, goal: Goal) -> Float32[Array, ""]:
    """Return the IoU in [0, 1] of a pose's spans with a goal, in pictures of its size.

    In half-size pictures it is off by up to 0.04, much the same for neighbouring poses: for shortlists only.
    """
    grid = FINE if goal.upright.shape[1] == FINE.size else COARSE
    flipped, picture = turned_picture(grid, shape, R)
    return iou(picture, jnp.where(flipped, goal.flipped, goal.upright))
