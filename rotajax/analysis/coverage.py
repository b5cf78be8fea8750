"""`measure_coverage`: how much of the solids' surfaces was seen, an episode and a step (Appendix F, Equation 8)."""

import dataclasses
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from rotajax.analysis.load import Analysis
from rotajax.analysis.method import Method
from rotajax.checks import require
from rotajax.geometry.mesh import SPACING, Mesh, surface
from rotajax.geometry.rotation import MATRICES

# How far along its normal a ray starts above its own triangle, solid units: far less than a grid step of 0.75, far
# more than the rounding of float32 coordinates (2e-6 at 28).
_LIFT = 1e-3
# Cosine below which a triangle is seen edge-on, that is not at all: float32 poses and corners are good to 1e-5.
_EDGE_ON = 1e-4


@dataclasses.dataclass(frozen=True)
class Coverage:
    """Seen shares of the surface of a method's episodes, area-weighted, in percent."""

    episode: np.ndarray  # float64 [E], from the start to the final pose
    before: np.ndarray  # float64 [N], up to and including the observation that a rotation answers


class Surface:
    """A mesh with its bounding-volume hierarchy, to ask what is visible from where."""

    def __init__(self, mesh: Mesh):
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        crosses = mesh.crosses
        length = np.linalg.norm(crosses, axis=1)
        self.weights = length / length.sum()
        self.normals = crosses / np.maximum(length, np.finfo(np.float64).tiny)[:, None]
        self._origins = (mesh.centroids + _LIFT * self.normals).astype(np.float32)
        # Robust: a ray through a shared edge hits one of its two triangles.
        self._scene = EmbreeScene(robust=True)
        self._triangles = TriangleMesh(self._scene, mesh.vertices.astype(np.float32), mesh.faces)

    def visible(self, direction: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
        """Return which triangles a far camera sees, bool [F]; `among`: bool [F], the only ones that are asked for.

        direction: [3], from the solid towards the camera, in the solid's own frame. A triangle is seen where its normal
        faces the camera and the ray from its centroid meets no triangle.
        """
        facing = self.normals @ direction > _EDGE_ON
        asked = np.flatnonzero(facing if among is None else facing & among)
        seen = np.zeros(len(self.normals), np.bool_)
        if len(asked):
            rays = np.broadcast_to(direction.astype(np.float32), (len(asked), 3))
            met = self._scene.run(self._origins[asked], np.ascontiguousarray(rays), query="OCCLUDED")
            seen[asked] = met < 0
        return seen

    def cumulative(self, rotations: np.ndarray) -> np.ndarray:
        """Return the share of the surface seen after each of a sequence of poses [T, 3, 3], float64 [T], [0, 1]."""
        seen, shares = np.zeros(len(self.weights), np.bool_), np.empty(len(rotations))
        for t, pose in enumerate(rotations):
            # The camera looks along -z: it lies where R maps a direction of the solid to +z. Roll changes nothing.
            seen |= self.visible(np.asarray(pose[2], np.float64), ~seen)
            shares[t] = self.weights[seen].sum()
        return shares


def measure_coverage(
    analysis: Analysis,
    policies: Sequence[str] | None = None,
    *,
    spacing: float = SPACING,
    tick: Callable[[int], object] = lambda episodes: None,
) -> dict[str, Coverage]:
    """Return the coverage of every policy of a run (or of some), by name; `tick` is told of episodes as they are done.

    A solid's mesh and hierarchy are made once. Raises ValueError where embreex or scikit-image is not installed.
    """
    require_rays()
    methods = analysis.methods if policies is None else tuple(analysis[name] for name in policies)
    found = {m.name: Coverage(np.zeros(len(m.episodes)), np.zeros(len(m.steps))) for m in methods}
    suite = analysis.suite
    for index, task in enumerate(suite.ids):
        playing = [method for method in methods if task in method.tasks]
        if not playing:
            continue
        solid = Surface(surface(suite[index].solid, spacing=spacing))
        for method in playing:
            rows = np.flatnonzero(method.episodes.task == method.tasks.index(task))
            for row in rows.tolist():
                shares = 100.0 * solid.cumulative(episode_poses(method, row, np.asarray(suite[index].start)))
                steps = slice(method.episodes.first[row], method.episodes.first[row] + method.episodes.steps[row])
                found[method.name].before[steps] = shares[:-1]
                found[method.name].episode[row] = shares[-1]
            tick(len(rows))
    return found


def episode_poses(method: Method, row: int, start: np.ndarray) -> np.ndarray:
    """Return every observed pose of an episode, the last one included, float64 [steps + 1, 3, 3]."""
    first, count = int(method.episodes.first[row]), int(method.episodes.steps[row])
    poses = method.steps.rotation[first : first + count].astype(np.float64)
    if count == 0:
        return np.asarray(start, np.float64)[None]
    final = MATRICES[method.steps.action[first + count - 1]].astype(np.float64) @ poses[-1]
    return np.concatenate([poses, final[None]])


def require_rays() -> None:
    """Raise ValueError, with what to install, unless coverage can be measured here."""
    missing = [name for name, module in (("embreex", "embreex"), ("scikit-image", "skimage")) if not find_spec(module)]
    require(not missing, "coverage", "embreex and scikit-image (pip install 'rotajax[coverage]')", f"no {missing[:1]}")
