"""`find_plan`: few rotations that lead from a believed pose to the target, on the rebuilt solid alone."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.compare import iou
from rotajax.geometry.quaternion import angle_deg, from_matrix, to_matrix
from rotajax.geometry.solid import Solid
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import span_packed
from rotajax.search.beam import beam_search
from rotajax.search.goalmap import cell_poses, widened
from rotajax.search.ground import Ground, replay
from rotajax.search.shortest import DIRECT, shortest_path
from rotajax.search.successors import successor_poses
from rotajax.tasks.starts import SUCCESS_IOU
from rotajax.tasks.task import Task
from rotajax.types import Array, Float32, UInt32

# The IoU of a plan's end on the rebuilt solid is above the threshold by so much: the true solid's differs.
MARGIN = 0.006
# Goals are represented by poses at least this far apart, at most so many.
GOAL_DEG, GOALS = 6.0, 256
# Cells that are looked at: a ball's whole table is goal.
CELLS = 50_000
# Words of one length that are drawn: enough to find a goal, and bounded where the map promises one everywhere.
DRAWN = 1024
# Poses a call: one compiled shape.
CHUNK = 16
# A plan for the longest start of a task, and a bit.
LONGEST = 18


@dataclasses.dataclass(frozen=True)
class Belief(Ground):
    """The ground of a search that knows nothing but pictures: the rebuilt solid stands in for the true one, and what
    the searches take for an exact verdict is the span's, `margin` on the safe side.
    """

    target: UInt32[Array, "H words"]  # type: ignore[assignment]  # packed, as it is in the picture
    margin: float = MARGIN

    def promising(self, q: np.ndarray) -> np.ndarray:
        """Return the indices of the words that may lead to the goal, the best estimates first, at most DRAWN."""
        return super().promising(q)[:DRAWN]

    def ious(self, poses: np.ndarray) -> np.ndarray:
        """Return the IoUs of poses, Float32[n, 3, 3], by their spans."""
        parts = [poses[i : i + CHUNK] for i in range(0, len(poses), CHUNK)]
        filled = [np.concatenate([part, np.repeat(part[-1:], CHUNK - len(part), axis=0)]) for part in parts]
        found = [np.asarray(_ious(part, self.skeleton, self.target)) for part in filled]
        return np.concatenate([*found, np.zeros(0, np.float32)])[: len(poses)]

    def exact_iou(self, pose: np.ndarray) -> float:
        """Return the IoU of a pose of the rebuilt solid with the target, less the margin."""
        return float(self.ious(np.asarray(pose)[None])[0]) - self.margin

    def standing(self, pose: np.ndarray, margin: float) -> "Belief":
        """Return the ground with another start."""
        task = dataclasses.replace(self.task, start=np.asarray(pose, np.float32))
        return dataclasses.replace(self, task=task, start=from_matrix(pose), margin=margin)

    def pose_error_deg(self, pose: np.ndarray) -> float:
        """Return the angle in degrees from a pose to the nearest of the known goals."""
        return float(angle_deg(self.group, from_matrix(pose)[None]).min())


def make_belief(solid: Solid, bones: Skeleton, target: UInt32[Array, "H words"], table: np.ndarray) -> Belief:
    """Return the ground of the solid rebuilt from a packed target whose table of IoUs is given."""
    identity = np.eye(3, dtype=np.float32)
    belief = Belief(
        task=Task(solid=solid, start=identity, group=identity[None], bones=bones),  # type: ignore[arg-type]
        skeleton=bones,
        target=target,
        mask=target,
        sparse=False,
        start=from_matrix(identity),
        group=from_matrix(identity)[None],
        goals=widened(table),
    )
    centres = _goal_centres(table)
    reached = belief.ious(to_matrix(centres)) >= SUCCESS_IOU
    reached[0] = True  # the target pose
    return dataclasses.replace(belief, group=centres[reached])


def find_plan(belief: Belief) -> list[int]:
    """Return the shortest plan known from the belief's start, at least one action: all words of up to 4 rotations are
    tried, a beam finds the longer ones. Where neither reaches the goal, the rotation to the successor of highest IoU.
    """
    found = shortest_path(belief, DIRECT).path or beam_search(belief, LONGEST)
    if found:
        return found
    poses = np.asarray(successor_poses(jnp.asarray(belief.task.start)))
    return [int(np.argmax(belief.ious(poses)))]


def holds(belief: Belief, path: list[int]) -> bool:
    """Return whether a path still leads from the belief's start to the goal."""
    return bool(path) and replay(belief, path) >= SUCCESS_IOU


def _goal_centres(table: np.ndarray) -> np.ndarray:
    """Return the target pose and centres of cells that seem to reach the goal, quaternions Float64[n, 4], the best
    estimates first and apart from one another.
    """
    places = np.flatnonzero(table >= SUCCESS_IOU)
    places = places[np.argsort(-table.ravel()[places], kind="stable")][:CELLS]
    q = cell_poses(*np.unravel_index(places, table.shape))
    least, centres = np.cos(np.deg2rad(GOAL_DEG) / 2), [np.array([1.0, 0, 0, 0])]
    while len(q) and len(centres) < GOALS:
        q = q[np.abs(q @ centres[-1]) < least]
        centres.extend(q[:1])
    return np.array(centres)


@jax.jit
def _ious(poses: Float32[Array, "n 3 3"], bones: Skeleton, target: UInt32[Array, "H words"]) -> Float32[Array, "n"]:
    return jax.lax.map(lambda R: iou(span_packed(bones, R), target), poses)
