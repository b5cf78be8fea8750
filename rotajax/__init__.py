"""JAX simulator and evaluation kit for spatial reasoning by interactive projection alignment (RoTA-Bench)."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from rotajax.compare import iou, pose_error_deg
from rotajax.env.actions import ACTIONS, action_index
from rotajax.env.observe import observe
from rotajax.env.rollout import Episodes, Policy, rollout
from rotajax.env.state import OUTCOMES, Params, State
from rotajax.env.step import Move, reset, step
from rotajax.geometry.rotation import rotation
from rotajax.geometry.solid import Points, Solid, extrude, make_solid
from rotajax.policies.baseline import POLICIES
from rotajax.render.panel import panel
from rotajax.render.shade import shade
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.render.span import span
from rotajax.render.splat import splat
from rotajax.search.oracle import best_by_iou
from rotajax.search.successors import successor_ious, successor_pose_errors, successor_poses
from rotajax.tasks.suite import Suite, load_suite
from rotajax.tasks.task import Task, with_skeletons

try:
    __version__ = version("rotajax")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> ModuleType:
    """Return `rotajax.analysis` on its first use: it brings the statistics of SciPy, which playing does not need."""
    if name == "analysis":
        return import_module("rotajax.analysis")
    raise AttributeError(f"module 'rotajax' has no attribute {name!r}")


__all__ = [
    "ACTIONS",
    "OUTCOMES",
    "POLICIES",
    "Episodes",
    "Move",
    "Params",
    "Points",
    "Policy",
    "Skeleton",
    "Solid",
    "State",
    "Suite",
    "Task",
    "action_index",
    "best_by_iou",
    "extrude",
    "iou",
    "load_suite",
    "make_solid",
    "observe",
    "panel",
    "pose_error_deg",
    "reset",
    "rollout",
    "rotation",
    "shade",
    "skeleton",
    "span",
    "splat",
    "step",
    "successor_ious",
    "successor_pose_errors",
    "successor_poses",
    "with_skeletons",
]
