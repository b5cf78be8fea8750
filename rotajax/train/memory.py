"""`Memory`: what a player keeps of its game: the belief, and the poses that it has been at.

The rotations taken are known exactly, so every pose met is known relative to the first one. A game that goes on was not
at its target at any of them: to go back to one is a turn wasted.
"""

import jax.numpy as jnp
import numpy as np

from rotajax.env.rollout import HORIZON
from rotajax.env.step import turned
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.train.belief import Tables, know_nothing, move
from rotajax.types import Array, Bool, Float32, Int32, struct

# Poses so near to each other are the same one: half of the smallest rotation.
SAME_DEG = 0.5


@struct
class Memory:
    """Of one game, or of many with leading axes."""

    belief: Float32[Array, "*B cells"]
    trail: Float32[Array, "*B 49 3 3"]  # the poses met, relative to the first; zeros after them
    turns: Int32[Array, "*B"]  # how many actions were taken


def nothing() -> Memory:
    """Return the memory before the first picture."""
    trail = jnp.zeros((HORIZON + 1, 3, 3), jnp.float32).at[0].set(jnp.eye(3, dtype=jnp.float32))
    return Memory(belief=know_nothing(), trail=trail, turns=jnp.int32(0))


def been(memory: Memory) -> Bool[Array, "24"]:
    """Return whether each rotation leads back to a pose of the game."""
    here = jnp.broadcast_to(memory.trail[memory.turns], MATRICES.shape)
    landings = compose(jnp.asarray(MATRICES), here)
    traces = jnp.einsum("aij,tij->at", landings, memory.trail)
    return jnp.any(traces > np.float32(1 + 2 * np.cos(np.deg2rad(SAME_DEG))), axis=1)


def after(memory: Memory, action: Int32[Array, ""], lookup: Tables) -> Memory:
    """Return the memory after an action; STOP moves nothing."""
    pose = turned(memory.trail[memory.turns], action)
    turns = jnp.minimum(memory.turns + jnp.int32(1), jnp.int32(HORIZON))
    return Memory(belief=move(memory.belief, action, lookup), trail=memory.trail.at[turns].set(pose), turns=turns)
