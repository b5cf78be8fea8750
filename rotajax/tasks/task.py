"""A task: a solid, the pose it starts from and the poses that count as its target."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from rotajax.geometry.solid import Solid
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.types import Array, Float32, struct


@struct
class Task:
    """One alignment task, or a batch of them (every leaf with a leading axis). The target pose is the identity."""

    solid: Solid
    start: Float32[Array, "*B 3 3"]
    group: Float32[Array, "*B G 3 3"]  # the symmetries S(Q) of the solid, padded to 24 by the identity
    bones: Skeleton | None = None  # the solid's deciding columns, where they were made: `with_skeletons`

    def __getitem__(self, index: int | slice | Array) -> "Task":
        """Return task `index` of a batch, also under jit, or a part of the batch."""
        return jax.tree.map(lambda leaf: _take(leaf, index), self)


# Columns a skeleton is padded to where that is enough; real icons need 9,000 to 22,000, and one size compiles once.
BONES = 32768


def with_skeletons(tasks: Task) -> Task:
    """Return a batch of tasks that carries its skeletons, so that span renderers are three times faster; host code."""
    count = len(tasks.start)
    bones = [skeleton(jax.tree.map(lambda leaf, i=i: leaf[i], tasks.solid)) for i in range(count)]
    size = max(BONES, *(len(b.x) for b in bones))

    def joined(*leaves: Array) -> np.ndarray:
        return np.stack(
            [np.pad(leaf, (0, size - len(leaf))) if leaf.ndim else leaf for leaf in map(np.asarray, leaves)]
        )

    return dataclasses.replace(tasks, bones=jax.tree.map(joined, *bones))


def _take(leaf: Array, index: int | slice | Array) -> Array:
    """Index a leaf; a NumPy leaf takes a traced index only as a jax array."""
    return jnp.asarray(leaf)[index] if isinstance(index, Tracer) else leaf[index]
