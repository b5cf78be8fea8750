"""The ground of a search: a task with its goal map, and the verdict of the exact renderer on candidate poses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.compare import iou
from rotajax.devices import spread
from rotajax.geometry.quaternion import from_matrix, multiply, to_matrix
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.geometry.solid import Solid
from rotajax.render.packed import unpack
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.render.span import span_packed
from rotajax.render.splat import splat
from rotajax.search.goalmap import GoalMap, goal_map
from rotajax.search.score import Goal, make_goal, span_iou
from rotajax.tasks.starts import SUCCESS_IOU
from rotajax.tasks.task import Task
from rotajax.types import Array, Float32, Mask, Rotation, UInt32

# A pose whose span IoU is so far below the threshold is no candidate, without asking the exact renderer: above the
# largest difference that benchmarks/margin.py has measured.
SPAN_MARGIN = 0.005
# The margin was measured on solids of more columns than the target has pixels. Where there are fewer, the 31 samples of
# a column leave gaps that its span has not (IoUs 0.03 apart at 0.3 columns a pixel): the exact renderer, cheap there.
DENSE = 1.0
# The same for an entry of the goal map: its entries were never below the IoU of a pose in their cell.
MAP_MARGIN = 0.02
# Poses a call: one compiled shape, and small enough that a search which ends early wastes little.
CHUNK = 64


@dataclass(frozen=True)
class Ground:
    """A task made ready for searching."""

    task: Task
    skeleton: Skeleton
    target: Goal  # span silhouette of the target
    mask: Array  # exact silhouette of the target
    sparse: bool  # fewer columns than the margin was measured for
    start: np.ndarray  # quaternion
    group: np.ndarray  # quaternions Float64[G, 4], without padding
    goals: GoalMap

    def promising(self, q: np.ndarray) -> np.ndarray:
        """Return the indices of the words `q`, Float[n, 4], that may lead to the goal, the best estimates first."""
        bound = self.goals.bound(q, self.start)
        index = np.flatnonzero(bound >= np.floor(255 * (SUCCESS_IOU - MAP_MARGIN)))
        return index[np.argsort(-bound[index].astype(np.int16), kind="stable")]

    def ious(self, poses: np.ndarray) -> np.ndarray:
        """Return the IoUs of poses, Float32[n, 3, 3], by their spans, or the exact ones of a sparse solid."""
        run, shape, target = spread(_span_iou), self.skeleton, self.target
        if self.sparse:
            run, shape, target = spread(_splat_iou), self.task.solid, self.mask
        parts = [poses[i : i + CHUNK] for i in range(0, len(poses), CHUNK)]
        filled = [np.concatenate([p, np.repeat(p[-1:], CHUNK - len(p), axis=0)]) for p in parts]
        found = [run(part, shape, target) for part in filled]
        return np.concatenate([*found, np.zeros(0, np.float32)])[: len(poses)]

    def exact_iou(self, pose: np.ndarray) -> float:
        """Return the exact IoU of a pose."""
        return float(_exact_iou(self.task.solid, self.mask, pose))


def make_ground(task: Task, *, columns: int | None = None) -> Ground:
    """Return the ground of a task; its skeleton is padded to `columns`, so that tasks of a suite share programs."""
    task = jax.tree.map(np.asarray, task)
    bones = task.bones or skeleton(task.solid, size=columns)
    identity = np.eye(3, dtype=np.float32)
    target = _packed(bones, identity)
    mask = _exact(task.solid, identity)
    group = np.unique(np.round(from_matrix(np.asarray(task.group)), 9), axis=0)
    return Ground(
        task=task,
        skeleton=bones,
        target=_goal(target),
        mask=mask,
        sparse=int(task.solid.count) < DENSE * int(np.asarray(mask).sum()),
        start=from_matrix(np.asarray(task.start)),
        group=group,
        goals=goal_map(bones, target),
    )


def replay(ground: Ground, path: Iterable[int]) -> float:
    """Return the exact IoU after executing a path's actions from the start, in float32 as the environment does."""
    R = np.asarray(ground.task.start)
    for action in path:
        R = np.asarray(_turn(R, np.int32(action)))
    return ground.exact_iou(R)


def first_verified(
    ground: Ground, q: np.ndarray, order: np.ndarray, path_of: Callable[[int], list[int]]
) -> tuple[int, float] | None:
    """Return the first index of `order` whose path replays to the goal with the exact renderer, and its IoU, or None.

    `q` are words, Float[n, 4]; `path_of(index)` gives the actions. Every candidate near the threshold is replayed.
    """
    for part in (order[i : i + CHUNK] for i in range(0, len(order), CHUNK)):
        poses = to_matrix(multiply(q[part], ground.start[None]))
        likely = part[ground.ious(poses) >= SUCCESS_IOU - SPAN_MARGIN]
        for index in likely:
            reached = replay(ground, path_of(int(index)))
            if reached >= np.float32(SUCCESS_IOU):
                return int(index), reached
    return None


def _span_iou(pose: Rotation, bones: Skeleton, target: Goal) -> Float32[Array, ""]:
    return span_iou(bones, pose, target)


def _splat_iou(pose: Rotation, solid: Solid, mask: Mask) -> Float32[Array, ""]:
    return iou(splat(solid, pose), mask)


_packed, _exact = jax.jit(span_packed), jax.jit(splat)


@jax.jit
def _goal(packed: UInt32[Array, "H words"]) -> Goal:
    return make_goal(unpack(packed))


@jax.jit
def _exact_iou(solid: Solid, mask: Mask, pose: Rotation) -> Float32[Array, ""]:
    return _splat_iou(pose, solid, mask)


@jax.jit
def _turn(R: Rotation, action: Array) -> Rotation:
    return compose(jnp.asarray(MATRICES)[action], R)
