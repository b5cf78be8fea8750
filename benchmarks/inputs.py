"""The work that all subjects share: solids and poses drawn by seed, written to files that every process reads."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import ROOT
from benchmarks.peers import Points

SEED = 20
# A full icon: the cap on columns of Appendix G.
FULL = 90_000
POSES = 4096
WALKS, STEPS = 16, 4
STATES = 64
NEAR_DEG = 45.0
ICONS = Path(os.environ.get("ROTAJAX_ICONS", ROOT.parent / "shared" / "game-icons"))


@dataclass(frozen=True)
class Inputs:
    """`count` solids with their sampled points, and poses, in the files of a folder; `name` says whose they are."""

    folder: Path
    name: str
    count: int

    def solid(self, index: int):
        """Return a solid, jax-ready."""
        from rotajax.geometry.solid import make_solid

        data = np.load(self.folder / f"solid{index}.npz")
        return make_solid(np.stack([data["x"], data["y"]], axis=1), int(data["seed"]))

    def points(self, index: int) -> Points:
        """Return the sampled points of a solid, for peers."""
        data = np.load(self.folder / f"solid{index}.npz")
        return Points(data["x"], data["y"], data["z"])

    def poses(self, count: int) -> np.ndarray:
        """Return the target pose and then uniform ones, Float32[count, 3, 3]."""
        return np.load(self.folder / "poses.npz")["poses"][:count]

    def walks(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return starts Float32[B, 3, 3], rotations Int32[B, T] and the poses after each, Float32[B, T, 3, 3]."""
        data = np.load(self.folder / "poses.npz")
        return data["poses"][1 : count + 1], data["actions"][:count], data["walked"][:count]

    def states(self, count: int) -> np.ndarray:
        """Return poses Float32[count, 3, 3], in turn uniform and within 45 degrees of the target."""
        return np.load(self.folder / "poses.npz")["states"][:count]

    def successors(self, count: int) -> np.ndarray:
        """Return the 24 successors of each of these poses, Float32[count, 24, 3, 3]."""
        data = np.load(self.folder / "poses.npz")
        return data["turns"][None] @ data["states"][:count, None]


def make_inputs(folder: Path, icons: Path | None, *, count: int, quick: bool) -> Inputs:
    """Write `count` solids into a folder: full icons of `icons` drawn by seed, or the embedded suite's largest ones.

    `quick` keeps every 16th column. Raises ValueError where the icons hold too few full ones.
    """
    outlines = _icon_outlines(icons, count) if icons else _embedded_outlines(count)
    from rotajax.geometry.rotation import MATRICES
    from rotajax.geometry.solid import SAMPLES, extrude, make_solid

    for index, xy in enumerate(outlines):
        xy = xy[::16] if quick else xy
        solid = make_solid(xy, SEED + index)
        z = np.asarray(extrude(solid).xyz[:, 2]).reshape(-1, SAMPLES)[: len(xy)]
        x, y = (np.asarray(v)[: len(xy)] for v in (solid.x, solid.y))
        np.savez(folder / f"solid{index}.npz", x=x, y=y, z=z, seed=SEED + index)
    poses = draw_poses(POSES)
    actions, walked = draw_walks(poses[1 : WALKS + 1], STEPS)
    states = draw_states(poses, STATES)
    np.savez(folder / "poses.npz", poses=poses, actions=actions, walked=walked, states=states, turns=MATRICES)
    columns = [len(xy[::16] if quick else xy) for xy in outlines]
    kind = "real icons" if icons else "embedded icons"
    size = " to ".join(f"{n:,}" for n in sorted({min(columns), max(columns)}))
    return Inputs(folder, f"{kind} of {size} columns", len(outlines))


def draw_poses(count: int) -> np.ndarray:
    """Return the target pose and then uniform ones, Float32[count, 3, 3]."""
    from rotajax.geometry.quaternion import to_matrix

    q = np.random.default_rng(SEED).normal(size=(count, 4))
    q[0] = (1, 0, 0, 0)
    return to_matrix(q / np.linalg.norm(q, axis=1, keepdims=True))


def draw_walks(poses: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rotations, Int32[B, steps], from every pose, and the poses after each, Float32[B, steps, 3, 3]."""
    from rotajax.env.actions import ROTATIONS
    from rotajax.geometry.rotation import MATRICES

    actions = np.random.default_rng(SEED + 1).integers(ROTATIONS, size=(len(poses), steps), dtype=np.int32)
    walked = []
    for turn in MATRICES[actions].swapaxes(0, 1):
        poses = turn @ poses
        walked.append(poses)
    return actions, np.stack(walked, axis=1)


def draw_states(poses: np.ndarray, count: int) -> np.ndarray:
    """Return uniform poses of `poses` in turn with poses within 45 degrees of the target, as a search meets both."""
    from rotajax.geometry.quaternion import to_matrix

    rng = np.random.default_rng(SEED + 2)
    half = np.deg2rad(NEAR_DEG) * rng.random(count) / 2
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    near = to_matrix(np.c_[np.cos(half), np.sin(half)[:, None] * axis])
    return np.where((np.arange(count) % 2 == 0)[:, None, None], poses[-count:], near)


def _icon_outlines(icons: Path, count: int) -> list[np.ndarray]:
    from rotajax.icons import accepted_mask, outline_points, plane_circle, plane_points

    found: list[np.ndarray] = []
    paths = sorted(icons.glob("*/*.svg"))
    for which in np.random.default_rng(SEED).permutation(len(paths)):
        try:
            points = outline_points(accepted_mask(paths[which]))
        except ValueError:  # most icons do not pass the filters
            continue
        if len(points) == FULL:
            found.append(plane_points(points, plane_circle(points)))
        if len(found) == count:
            return found
    raise ValueError(f"--icons: expected {count} icons of {FULL} columns that pass the filters, got {len(found)}")


def _embedded_outlines(count: int) -> list[np.ndarray]:
    from rotajax.tasks.suite import load_suite

    solids = load_suite("mini").tasks.solid
    largest = np.argsort(-np.asarray(solids.count), kind="stable")[:count]
    xy = np.stack([solids.x, solids.y], axis=-1)
    return [xy[i, : solids.count[i]].astype(np.float64) for i in largest]
