"""`Belief`: what is known of the pose so far, a Bayes filter over the grid, and the action that follows from it.

Nothing here is learnt. A picture's posterior, divided by how often training showed each tilt, is the likelihood of what
was seen; the actions are known exactly and move the belief; and a game that goes on is not at its target.
"""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.env.actions import STOP
from rotajax.geometry.quaternion import from_matrix
from rotajax.geometry.rotation import MATRICES
from rotajax.train.grid import CELLS, TILTS, TURNS, angles_after, angles_deg, origins, poses, volumes
from rotajax.train.nudge import Offset
from rotajax.types import Array, Bool, Float32, Int32, struct


@struct
class Habits:
    """The numbers of the filter, as leaves.

    `keep` of the old evidence stays at each turn, since the errors of neighbouring pictures go together; a picture is
    wrong altogether in `doubt` of all cases; a landing is worth 1 / (1 + (angle / reach_deg)^2); a game that goes on
    has its pose nearer than `goal_deg` to the target with little chance. The offset that the pictures show is followed
    where the pose is near the target with a chance of more than `near` and the offset errs by less than `error_deg`.
    """

    keep: Float32[Array, ""] = np.float32(0.9)  # type: ignore[assignment]
    doubt: Float32[Array, ""] = np.float32(0.05)  # type: ignore[assignment]
    reach_deg: Float32[Array, ""] = np.float32(15)  # type: ignore[assignment]
    goal_deg: Float32[Array, ""] = np.float32(2)  # type: ignore[assignment]
    near: Float32[Array, ""] = np.float32(0.5)  # type: ignore[assignment]
    error_deg: Float32[Array, ""] = np.float32(6)  # type: ignore[assignment]


@struct
class Tables:
    """What the filter looks up, the same for every game: arguments rather than captured constants."""

    after: Float32[Array, "24 cells"]  # angle from the target after each rotation
    angle: Float32[Array, "cells"]
    volume: Float32[Array, "cells"]
    quaternion: Float32[Array, "cells 4"]
    turn: Float32[Array, "24 4"]  # of each rotation
    cell: Int32[Array, "24 cells 8"]
    weight: Float32[Array, "24 cells 8"]


@cache
def tables() -> Tables:
    """Return the tables; a second of host work, once."""
    cell, weight = origins()
    parts: dict[str, Any] = {
        "after": angles_after(),
        "angle": angles_deg(),
        "volume": volumes(),
        "quaternion": from_matrix(poses()).astype(np.float32),
        "turn": from_matrix(MATRICES).astype(np.float32),
        "cell": cell,
        "weight": weight,
    }
    return Tables(**parts)


# How far around the likeliest cell poses are averaged.
NEAR_DEG = 20.0
# The pose is clear where so much of the belief lies in that region, and near where a rotation leads so close.
SURE, CLOSE_DEG = 0.5, 12.0
# Cells that are tried as the middle of the most likely region.
CANDIDATES = 64
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


def aim(belief: Float32[Array, "cells"], lookup: Tables) -> tuple[Float32[Array, "24"], Float32[Array, ""]]:
    """Return the angle from the target, in degrees, that each rotation leads to from the most likely pose, and how much
    of the belief is there.

    That pose lies between cells: the mean over those within NEAR_DEG of one that has the most of the belief there.
    What is expected over cells alone (`worth`) cannot tell turns apart that are finer than the grid.
    """
    share = jax.nn.softmax(belief + jnp.log(lookup.volume))
    reach = np.float32(np.cos(np.deg2rad(NEAR_DEG / 2)))
    _, likely = jax.lax.top_k(share, CANDIDATES)
    dots = jnp.einsum("kq,cq->kc", lookup.quaternion[likely], lookup.quaternion)
    mass = jnp.sum(jnp.where(jnp.abs(dots) > reach, share[None], jnp.float32(0)), axis=1)
    dot = dots[jnp.argmax(mass)]
    near = jnp.where(jnp.abs(dot) > reach, share * jnp.sign(dot), jnp.float32(0))
    mean = jnp.sum(near[:, None] * lookup.quaternion, axis=0)
    mean = mean / (jnp.linalg.norm(mean) + jnp.float32(1e-12))
    return _angle_after(mean, lookup), jnp.max(mass)


def leads_to(offset: Float32[Array, "3"], lookup: Tables) -> Float32[Array, "24"]:
    """Return the angle from the target, in degrees, that each rotation leads to from a small rotation vector off it."""
    half = jnp.float32(0.5) * jnp.sqrt(jnp.sum(offset * offset, dtype=jnp.float32) + jnp.float32(1e-12))
    pose = jnp.concatenate([jnp.cos(half)[None], jnp.float32(0.5) * jnp.sin(half) / half * offset])
    return _angle_after(pose, lookup)


def choose(
    belief: Float32[Array, "cells"],
    values: Float32[Array, "24"],
    offset: Offset,
    barred: Bool[Array, "24"],
    habits: Habits,
    lookup: Tables,
) -> Int32[Array, ""]:
    """Return the rotation worth most, or near the target the one that aims best: by the offset that the pictures show
    where they show one, else by the belief once that is clear. None of those barred."""
    angles, mass = aim(belief, lookup)
    angles, offsets = (jnp.where(barred, jnp.float32(360), a) for a in (angles, leads_to(offset.vector, lookup)))
    close = (mass > SURE) & (jnp.min(angles) < CLOSE_DEG)
    action = jnp.where(close, jnp.argmin(angles), jnp.argmax(jnp.where(barred, jnp.float32(-1), values)))
    return jnp.where(shows(offset, habits), jnp.argmin(offsets), action).astype(jnp.int32)


def shows(offset: Offset, habits: Habits) -> Bool[Array, ""]:
    """Return whether the pictures show by themselves how far the pose is from the target."""
    expected = jnp.rad2deg(jnp.float32(3) * jnp.exp(offset.spread))
    return (jax.nn.sigmoid(offset.near) > habits.near) & (expected < habits.error_deg)


def move(belief: Float32[Array, "cells"], action: Int32[Array, ""], lookup: Tables) -> Float32[Array, "cells"]:
    """Return the belief after an action: what is at R now was at Q(a)^-1 R. STOP moves nothing."""
    a = jnp.minimum(action, jnp.int32(STOP - 1))
    moved = jnp.sum(belief[lookup.cell[a]] * lookup.weight[a], axis=-1, dtype=jnp.float32)
    return jnp.where(action == STOP, belief, moved)


def tilt_shares(cell: Int32[Array, "B 8"], weight: Float32[Array, "B 8"]) -> Float32[Array, "tilts"]:
    """Return each tilt's share of the labels of a batch."""
    total = jnp.zeros(len(TILTS), jnp.float32).at[cell // TURNS**2].add(weight)
    return total / jnp.sum(total)


def _angle_after(pose: Float32[Array, "4"], lookup: Tables) -> Float32[Array, "24"]:
    """Return the angles of Q(a) R in degrees. A product's real part is the cosine of half of its angle."""
    signs = jnp.array([1, -1, -1, -1], jnp.float32)
    cosine = jnp.abs(jnp.sum(lookup.turn * (signs * pose)[None], axis=1, dtype=jnp.float32))
    return jnp.rad2deg(2 * jnp.arccos(jnp.minimum(cosine, 1)))
