"""JAX simulator and evaluation kit for spatial reasoning by interactive projection alignment (RoTA-Bench)."""

from importlib.metadata import PackageNotFoundError, version

from rotajax.compare import iou, pose_error_deg
from rotajax.env.actions import ACTIONS, action_index
from rotajax.env.observe import observe
from rotajax.env.rollout import Episodes, Policy, rollout
from rotajax.env.state import OUTCOMES, Params, State
from rotajax.env.step import reset, step
from rotajax.geometry.rotation import rotation
from rotajax.geometry.solid import Points, Solid, extrude, make_solid
from rotajax.policies.baseline import POLICIES
from rotajax.render.panel import panel
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.search.successors import successor_ious, successor_pose_errors, successor_poses
from rotajax.tasks.suite import Suite, load_suite
from rotajax.tasks.task import Task

try:
    __version__ = version("rotajax")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+unknown"

__all__ = [
    "ACTIONS",
    "OUTCOMES",
    "POLICIES",
    "Episodes",
    "Params",
    "Points",
    "Policy",
    "Solid",
    "State",
    "Suite",
    "Task",
    "action_index",
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
    "splat",
    "step",
    "successor_ious",
    "successor_pose_errors",
    "successor_poses",
]
