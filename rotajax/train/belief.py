"""`Belief`: what is known of the pose so far, a Bayes filter over the grid, and the action that follows from it.

Nothing here is learnt. A picture's posterior, divided by how often training showed each tilt, is the likelihood of what
was seen; the actions are known exactly and move the belief; and a game that goes on is not at its target.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.env.actions import STOP
from rotajax.train.grid import CELLS, TILTS, TURNS, angles_after, angles_deg, origins, volumes
from rotajax.types import Array, Float32, Int32, struct


@struct
class Habits:
    """The numbers of the filter, as leaves.

    `keep` of the old evidence stays at each turn, since the errors of neighbouring pictures go together; a picture is
    wrong altogether in `doubt` of all cases; a landing is worth 1 / (1 + (angle / reach_deg)^2); a game that goes on
    has its pose nearer than `goal_deg` to the target with little chance.
    """

    keep: Float32[Array, ""] = np.float32(0.8)  # type: ignore[assignment]
    doubt: Float32[Array, ""] = np.float32(0.05)  # type: ignore[assignment]
    reach_deg: Float32[Array, ""] = np.float32(15)  # type: ignore[assignment]
    goal_deg: Float32[Array, ""] = np.float32(5)  # type: ignore[assignment]


@struct
class Tables:
    """What the filter looks up, the same for every game: arguments rather than captured constants."""

    after: Float32[Array, "24 cells"]  # angle from the target after each rotation
    angle: Float32[Array, "cells"]
    volume: Float32[Array, "cells"]
    cell: Int32[Array, "24 cells 8"]
    weight: Float32[Array, "24 cells 8"]


@cache
def tables() -> Tables:
    """Return the tables; a second of host work, once."""
    cell, weight = origins()
    return Tables(after=angles_after(), angle=angles_deg(), volume=volumes(), cell=cell, weight=weight)


# Of a game that goes on: the chance that its pose is the target itself, against 1 far away.
_AT_TARGET = 0.02


def know_nothing() -> Float32[Array, "cells"]:
    """Return the belief before the first picture: logarithms of a density that is the same everywhere."""
    return jnp.zeros(CELLS, jnp.float32)


def likelihood(logits: Float32[Array, "cells"], tilts: Float32[Array, "tilts"], habits: Habits) -> Array:
    """Return the log likelihood of a picture at every cell; `tilts` is each tilt's share of the training labels."""
    prior = jnp.repeat(jnp.log(tilts / jnp.float32(TURNS**2)), TURNS**2, total_repeat_length=CELLS)
    seen = jax.nn.log_softmax(logits) - prior
    return jnp.logaddexp(jnp.log1p(-habits.doubt) + seen, jnp.log(habits.doubt))


def see(belief: Float32[Array, "cells"], evidence: Float32[Array, "cells"], habits: Habits, lookup: Tables) -> Array:
    """Return the belief after a picture of a game that goes on."""
    near = (lookup.angle / habits.goal_deg) ** 2
    going = jnp.log((jnp.float32(_AT_TARGET) + near) / (jnp.float32(1) + near))
    belief = habits.keep * belief + evidence + going
    return belief - jnp.max(belief)


def worth(belief: Float32[Array, "cells"], habits: Habits, lookup: Tables) -> Float32[Array, "24"]:
    """Return the expected worth of each rotation's landing, [0, 1]."""
    share = jax.nn.softmax(belief + jnp.log(lookup.volume))
    value = jnp.float32(1) / (jnp.float32(1) + (lookup.after / habits.reach_deg) ** 2)
    return jnp.sum(value * share[None], axis=1, dtype=jnp.float32)


def move(belief: Float32[Array, "cells"], action: Int32[Array, ""], lookup: Tables) -> Float32[Array, "cells"]:
    """Return the belief after an action: what is at R now was at Q(a)^-1 R. STOP moves nothing."""
    a = jnp.minimum(action, jnp.int32(STOP - 1))
    moved = jnp.sum(belief[lookup.cell[a]] * lookup.weight[a], axis=-1, dtype=jnp.float32)
    return jnp.where(action == STOP, belief, moved)


def tilt_shares(cell: Int32[Array, "B 8"], weight: Float32[Array, "B 8"]) -> Float32[Array, "tilts"]:
    """Return each tilt's share of the labels of a batch."""
    total = jnp.zeros(len(TILTS), jnp.float32).at[cell // TURNS**2].add(weight)
    return total / jnp.sum(total)
