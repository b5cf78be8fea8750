"""The pixel solver: no model and no ground truth, only the three pictures of a turn and the construction rule."""

from rotajax.solvers.pixels.pose import Estimate, estimate_pose
from rotajax.solvers.pixels.solver import KNOWS, build, pixel_solver

__all__ = ["KNOWS", "Estimate", "build", "estimate_pose", "pixel_solver"]
