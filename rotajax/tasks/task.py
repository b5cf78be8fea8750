"""A task: a solid, the pose it starts from and the poses that count as its target."""

import jax
import jax.numpy as jnp
from jax.core import Tracer

from rotajax.geometry.solid import Solid
from rotajax.types import Array, Float32, struct


@struct
class Task:
    """One alignment task, or a batch of them (every leaf with a leading axis). The target pose is the identity."""

    solid: Solid
    start: Float32[Array, "*B 3 3"]
    group: Float32[Array, "*B G 3 3"]  # the symmetries S(Q) of the solid, padded to 24 by the identity

    def __getitem__(self, index: int | slice | Array) -> "Task":
        """Return task `index` of a batch, also under jit, or a part of the batch."""
        return jax.tree.map(lambda leaf: _take(leaf, index), self)


def _take(leaf: Array, index: int | slice | Array) -> Array:
    """Index a leaf; a NumPy leaf takes a traced index only as a jax array."""
    return jnp.asarray(leaf)[index] if isinstance(index, Tracer) else leaf[index]
