"""`estimate_pose`: which poses of a solid the pictures of a turn may show, the most likely first."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from scipy import ndimage

from rotajax.checks import require
from rotajax.geometry.quaternion import angle_deg, from_matrix, to_matrix
from rotajax.geometry.rotation import compose
from rotajax.render.camera import SIZE
from rotajax.render.packed import pack
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.search.goalmap import cell_poses, iou_tables
from rotajax.solvers.pixels.fit import COARSE, FINE, NONE, Sight, refine, renders, sight
from rotajax.solvers.pixels.rebuild import rebuild
from rotajax.tasks.task import BONES
from rotajax.types import Bool, Rotation, UInt8

# Local maxima of the silhouette's table that are held against the view, and how many of those are refined.
CANDIDATES, REFINED = 96, 6
# Misfit above which the best pose does not explain the pictures. Over the looks of six episodes of real icons it was
# 0.009 to 0.031; with pictures of something else it is above 1.
CONVINCING = 0.15
# Estimates closer than this are one.
APART_DEG = 3.0
# Poses whose evidence is up to so many times the best's are kept as rivals: the next looks decide.
RIVAL, RIVALS = 2.0, 3


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Poses, Float32[n, 3, 3], that may explain the pictures, the best first, with the misfit of each at this look,
    Float32[n], and the sum of its misfits at all looks so far.
    """

    poses: np.ndarray
    misfits: np.ndarray
    evidence: np.ndarray
    rendered: int  # poses drawn for this look

    @property
    def convincing(self) -> bool:
        """Whether the best pose explains the pictures."""
        return bool(self.misfits[0] <= CONVINCING)

    def turned(self, turn: Rotation) -> "Estimate":
        """Return what is expected after a rotation."""
        return dataclasses.replace(self, poses=np.asarray(compose(jnp.asarray(turn)[None], jnp.asarray(self.poses))))


def estimate_pose(
    target: Bool[np.ndarray, "H W"], view: UInt8[np.ndarray, "H W"] | None, current: Bool[np.ndarray, "H W"]
) -> Estimate:
    """Return the poses that the three pictures of a turn may show, by the construction rule and without ground truth.

    Without a view a pose and its mirror image in depth cannot be told apart. Raises ValueError for pictures of another
    size or kind, and for a target without a solid.
    """
    check_pictures(view, current)
    bones = skeleton(rebuild(target), size=BONES)
    return estimate_from(look_up(bones, target, current)[1], bones, view, current)


def look_up(bones: Skeleton, target: np.ndarray, current: np.ndarray) -> np.ndarray:
    """Return the tables of IoUs, Float32[2, 2, SIDE, SIDE, ROLLS], of the target and of the current silhouette."""
    return iou_tables(bones, jnp.stack([packed(target), packed(current)]))


def check_pictures(view: np.ndarray | None, current: np.ndarray) -> None:
    """Raise ValueError unless the view and the current silhouette are pictures of a turn."""
    for name, picture, kind in (("view", view, np.uint8), ("current", current, np.bool_)):
        if picture is not None:
            right = picture.shape == (SIZE, SIZE) and picture.dtype == kind
            got = f"{picture.dtype}{list(picture.shape)}"
            require(right, name, f"a picture [320, 320] of {np.dtype(kind)}", got)


def estimate_from(table: np.ndarray, bones: Skeleton, view: np.ndarray | None, current: np.ndarray) -> Estimate:
    """Return `estimate_pose` where the table of the current silhouette is there already."""
    seen = sight(current, view)
    poses = to_matrix(cell_poses(*_maxima(table)))
    _, rough = _refined(poses, bones, seen, NONE)
    chosen = poses[np.argsort(rough, kind="stable")[:REFINED]]
    chosen, found = _refined(chosen, bones, seen, COARSE)
    likely = _best(chosen, found, 0 * found, 0)
    # One look is one piece of evidence.
    finer = track(dataclasses.replace(likely, evidence=0 * likely.evidence), bones, view, current)
    # A picture fills two directions of the table.
    directions = int(table[0].any(axis=-1).sum()) // 2
    return dataclasses.replace(finer, rendered=directions + CANDIDATES + renders(REFINED, COARSE) + finer.rendered)


def track(before: Estimate, bones: Skeleton, view: np.ndarray | None, current: np.ndarray) -> Estimate:
    """Return an expectation refined on the pictures of the next look."""
    seen = sight(current, view)
    poses, found = _refined(before.poses, bones, seen, FINE)
    return _best(poses, found, before.evidence, renders(len(poses), FINE))


def _refined(poses: np.ndarray, bones: Skeleton, seen: Sight, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return poses refined one by one, and their misfits."""
    pairs = [refine(pose, bones, seen, rounds) for pose in poses]
    return np.stack([np.asarray(pair[0]) for pair in pairs]), np.stack([np.asarray(pair[1]) for pair in pairs])


def _best(poses: np.ndarray, found: np.ndarray, evidence: np.ndarray, rendered: int) -> Estimate:
    """Return the estimate of poses with their misfits at this look: some of those that are nearly as good as the best,
    and no near copies.
    """
    evidence = evidence + found
    q = from_matrix(poses)
    kept: list[int] = []
    for i in np.argsort(evidence, kind="stable"):
        if not kept or angle_deg(q[kept], q[i : i + 1]).min() > APART_DEG:
            kept.append(int(i))
    kept = [i for i in kept if evidence[i] <= evidence[kept[0]] * RIVAL][:RIVALS]
    return Estimate(poses[kept], found[kept], evidence[kept], rendered)


def _maxima(table: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the places of the CANDIDATES highest local maxima of a table [2, S, S, rolls], filled up with its best."""
    peaks = ndimage.maximum_filter(table, size=(1, 3, 3, 3), mode=("nearest", "nearest", "nearest", "wrap"))  # type: ignore[arg-type]
    score = np.where((peaks == table) & (table > 0), table, np.float32(-1)).ravel()
    best = np.argpartition(-score, CANDIDATES)[:CANDIDATES]
    best = best[np.argsort(-score[best], kind="stable")]
    best = np.where(score[best] > 0, best, best[0])
    return np.unravel_index(best, table.shape)


packed = jax.jit(pack)
