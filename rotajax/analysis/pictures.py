"""`require_ious`: recorded IoUs against silhouettes that are drawn again, a sample of a run's states."""

import jax.numpy as jnp
import numpy as np

from rotajax.analysis.replay import poses_after
from rotajax.checks import require
from rotajax.compare import iou
from rotajax.devices import spread
from rotajax.geometry.solid import Solid
from rotajax.records import Run
from rotajax.render.splat import splat
from rotajax.tasks.suite import Suite
from rotajax.tasks.task import Task
from rotajax.types import Array, Float32, Rotation

# Another backend may round a point to the next pixel: some ten pixels of the ten thousand of a silhouette.
IOU_TOLERANCE = 1e-3


def require_ious(run: Run, suite: Suite, *, sample: int, seed: int = 0) -> int:
    """Return how many states of a run were drawn again by the exact renderer; their recorded IoUs hold.

    sample: how many to draw, without repetition, of the states before a decision and at the end of an episode; all
    where it is as many or more. Raises ValueError that names the first whose IoU is another and counts the rest.
    """
    decisions, episodes = run.decisions, run.episodes
    last = np.flatnonzero(np.append(decisions.episode[1:] != decisions.episode[:-1], len(decisions) > 0))
    poses = np.concatenate([decisions.rotation, poses_after(run)[last].astype(np.float32)])
    episode = np.concatenate([decisions.episode, decisions.episode[last]])
    t = np.concatenate([decisions.t, decisions.t[last] + 1])
    recorded = np.concatenate([decisions.iou_before, episodes.final_iou[decisions.episode[last]]])
    size = min(sample, len(poses))
    chosen = np.sort(np.random.default_rng(seed).choice(len(poses), size, replace=False))
    if size == 0:
        return 0
    rows = np.array([suite.ids.index(task) for task in run.tasks])[episodes.task[episode[chosen]]]
    drawn = spread(_iou)((suite.tasks[rows], poses[chosen]))  # pyright: ignore[reportArgumentType]
    off = np.abs(drawn - recorded[chosen])
    wrong = np.flatnonzero(~(off <= IOU_TOLERANCE))
    if len(wrong):
        row = chosen[wrong[0]]
        task, policy = run.tasks[episodes.task[episode[row]]], run.policies[episodes.policy[episode[row]]]
        where = f"run '{run.path}': {policy} on {task}, seed {episodes.seed[episode[row]]}, t = {t[row]}: IoU"
        rest = f" ({len(wrong)} of {size} drawn: the file is not to be trusted)"
        require(False, where, f"{drawn[wrong[0]]:.4f}, as drawn", f"{recorded[row]:.4f}{rest}")
    return size


def _iou(item: tuple[Task, Rotation]) -> Float32[Array, ""]:
    task, pose = item
    solid: Solid = task.solid
    return iou(splat(solid, pose), splat(solid, jnp.eye(3, dtype=jnp.float32)))
