"""`World`: all of a suite that training draws from, one pytree; `look`: the three small pictures of a pose."""

import dataclasses
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from rotajax.checks import require
from rotajax.geometry.solid import Solid
from rotajax.geometry.symmetry import Symmetry, group_size
from rotajax.render.packed import unpack
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.render.span import CHUNK, span_packed
from rotajax.tasks.suite import Suite
from rotajax.train.glance import glance
from rotajax.train.picture import small
from rotajax.train.surface import Surface, surfaces
from rotajax.types import Array, Float32, Int32, Rotation, UInt8, UInt32, struct


@struct
class World:
    """The icons of a suite: what its silhouettes and quick views are drawn from, its symmetries and its targets."""

    bones: Skeleton
    surface: Surface
    group: Float32[Array, "N 24 3 3"]
    symmetries: Int32[Array, "N"]  # the first so many of the group are distinct
    target: UInt32[Array, "N 320 10"]
    picture: UInt8[Array, "N 80 80"]  # the target as a policy sees it

    def __len__(self) -> int:
        return len(self.symmetries)


@struct
class Pictures:
    """What a policy sees of a turn: target, auxiliary view and current silhouette, 80 x 80."""

    target: UInt8[Array, "*B 80 80"]
    view: UInt8[Array, "*B 80 80"]
    current: UInt8[Array, "*B 80 80"]


def reduced(target: Array, view: Array, current: Array) -> Pictures:
    """Return the pictures of a turn, 320 x 320, as a policy sees them."""
    return Pictures(target=small(target), view=small(view), current=small(current))


def make_world(suite: Suite, *, progress: bool = False) -> World:
    """Return the world of a suite; host code, a second for some ten icons, with its progress on standard error."""
    require(len(suite) > 0, "train: suite", "at least one task", "none")
    solids = [jax.tree.map(lambda leaf, i=i: leaf[i], suite.tasks.solid) for i in range(len(suite))]
    rows = suite.info.rows
    sizes = [group_size(Symmetry(row["symmetry_order"], row["mirror_angle_deg"])) for row in rows]
    return world_of(solids, np.asarray(suite.tasks.group), np.array(sizes, np.int32), progress=progress)


def world_of(solids: list[Solid], group: np.ndarray, symmetries: np.ndarray, *, progress: bool = False) -> World:
    """Return the world of solids: their groups [N, 24, 3, 3], of which the first so many are distinct."""
    shown = tqdm(solids, desc="icons", unit="icon", disable=not progress, file=sys.stderr, mininterval=2.0)
    bones = [skeleton(solid) for solid in shown]
    counts = np.array([int(b.count) for b in bones], np.int32)
    size = -(-int(counts.max()) // CHUNK) * CHUNK

    def joined_leaf(name: str) -> Any:
        leaves = [np.asarray(getattr(b, name)) for b in bones]
        if name == "index":  # spans need no depths of samples
            return np.zeros((len(bones), 1), np.uint32)
        if leaves[0].ndim == 0:
            return np.stack(leaves)
        return np.stack([np.pad(leaf[:size], (0, max(size - len(leaf), 0))) for leaf in leaves])

    joined = Skeleton(**{field.name: joined_leaf(field.name) for field in dataclasses.fields(Skeleton)})
    target, picture = jax.jit(lambda b: jax.lax.map(_target, b))(joined)
    parts = {"group": group, "symmetries": symmetries, "target": target, "picture": picture}
    arrays: dict[str, Any] = {name: np.asarray(part) for name, part in parts.items()}
    return World(bones=joined, surface=surfaces(solids), **arrays)


def _target(bones: Skeleton) -> tuple[Array, Array]:
    words = span_packed(bones, jnp.eye(3, dtype=jnp.float32))
    return words, small(unpack(words))


def silhouette(world: World, icon: Int32[Array, ""], R: Rotation) -> UInt32[Array, "320 10"]:
    """Return the packed silhouette by spans of an icon under a pose."""
    return span_packed(jax.tree.map(lambda leaf: leaf[icon], world.bones), R)


def look(world: World, icon: Int32[Array, ""], R: Rotation, current: UInt32[Array, "320 10"]) -> Pictures:
    """Return the three pictures of an icon under a pose whose silhouette is already drawn."""
    view = glance(jax.tree.map(lambda leaf: leaf[icon], world.surface), R)
    return Pictures(target=world.picture[icon], view=view, current=small(unpack(current)))
