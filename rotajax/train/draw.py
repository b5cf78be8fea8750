"""Icons, starts, poses and labels drawn under jit."""

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.geometry.rotation import ANGLES, DIRECTIONS, MATRICES, compose
from rotajax.tasks.starts import LONGEST, SHORTEST, TURN_DEG
from rotajax.train.grid import Corners, corners
from rotajax.train.world import World
from rotajax.types import Array, Float32, Int32, Key, Rotation

# The six turns of 30 degrees.
TURNS_30 = MATRICES[len(ANGLES) * np.arange(len(DIRECTIONS)) + ANGLES.index(int(TURN_DEG))]
# The game is decided near the target. Free poses are uniform, or tilted by a normal angle of the first spread at any
# turn in the plane, or turned from the target by a normal angle of the second spread about any axis: tilt and turn are
# small together there.
TILT_DEG, NEAR_DEG = 18.0, 10.0


def draw_icon(key: Key[Array, ""], world: World) -> Int32[Array, ""]:
    """Return the number of an icon."""
    return jax.random.randint(key, (), 0, len(world), jnp.int32)


def draw_start(key: Key[Array, ""]) -> Rotation:
    """Return the pose after 6 to 16 turns of 30 degrees, none of which undoes the one before (section 3.3)."""
    length_key, first_key, turn_key = jax.random.split(key, 3)
    length = jax.random.randint(length_key, (), SHORTEST, LONGEST + 1, jnp.int32)
    first = jax.random.randint(first_key, (), 0, len(DIRECTIONS), jnp.int32)
    # Of the five directions that do not undo the last one.
    fives = jax.random.randint(turn_key, (LONGEST,), 0, len(DIRECTIONS) - 1, jnp.int32)
    turns = jnp.asarray(TURNS_30)

    def turn(position: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        R, last = carry
        five = fives[position]
        direction = five + (five >= last ^ 1).astype(jnp.int32)
        return compose(turns[direction], R), direction

    return jax.lax.fori_loop(jnp.int32(1), length, turn, (turns[first], first))[0]


def draw_pose(key: Key[Array, ""]) -> Rotation:
    """Return a pose: a third uniform, a third tilted little at any turn in the plane, a third near the target."""
    kind_key, uniform, angles, spin = jax.random.split(key, 4)
    q = jax.random.normal(uniform, (4,), jnp.float32)
    tilt, offset = jnp.deg2rad(jnp.array([TILT_DEG, NEAR_DEG], jnp.float32)) * jax.random.normal(angles, (2,)) / 2
    psi, phi = jax.random.uniform(spin, (2,), jnp.float32, 0, 2 * np.pi)
    about = jnp.stack([jnp.cos(tilt), -jnp.sin(tilt) * jnp.sin(psi), jnp.sin(tilt) * jnp.cos(psi), 0.0 * tilt])
    tilted = compose(_matrix(about), _matrix(jnp.stack([jnp.cos(phi / 2), 0 * phi, 0 * phi, jnp.sin(phi / 2)])))
    axis = q[1:] / jnp.linalg.norm(q[1:])
    near = _matrix(jnp.concatenate([jnp.cos(offset)[None], jnp.sin(offset) * axis]))
    kinds = jnp.stack([_matrix(q / jnp.linalg.norm(q)), tilted, near])
    return kinds[jax.random.randint(kind_key, (), 0, len(kinds), jnp.int32)]


def label(key: Key[Array, ""], group: Float32[Array, "24 3 3"], symmetries: Int32[Array, ""], R: Rotation) -> Corners:
    """Return the cells around one of the poses R S, S drawn from the symmetries: all of them look the same."""
    S = group[jax.random.randint(key, (), 0, symmetries, jnp.int32)]
    return corners(compose(R, S))


def _matrix(q: Float32[Array, "4"]) -> Rotation:
    w, x, y, z = q
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row) for row in rows]).astype(jnp.float32)
