import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rotajax.env.actions import INVERSE, ROTATIONS, STOP
from rotajax.env.rollout import HORIZON
from rotajax.geometry.rotation import MATRICES
from rotajax.train.agent import Agent
from rotajax.train.belief import Habits, choose
from rotajax.train.memory import after, been, nothing
from rotajax.train.nudge import Offset


@pytest.fixture(scope="module")
def walk(lookup):
    step = jax.jit(lambda memory, action: after(memory, action, lookup))

    def go(actions):
        memory = nothing()
        for action in actions:
            memory = step(memory, jnp.int32(action))
        return memory

    return go


def angle(A, B):
    return np.rad2deg(2 * np.arcsin(min(np.linalg.norm(A.astype(np.float64) - B) / np.sqrt(8), 1)))


def test_rotations_that_lead_back_are_known(walk):
    """Against the poses themselves, in float64, over random games of every length."""
    rng = np.random.default_rng(0)
    found, barred_at_all = jax.jit(been), 0
    for length in (1, 2, 5, 17, HORIZON - 1):
        # Among the turns of 1 and 5 degrees, which meet again.
        actions = rng.choice([a for a in range(ROTATIONS) if a % 4 < 2], length)
        met = [np.eye(3)]
        for action in actions:
            met.append(MATRICES[action].astype(np.float64) @ met[-1])
        back = [min(angle(MATRICES[a] @ met[-1], pose) for pose in met) < 0.5 for a in range(ROTATIONS)]
        barred = np.asarray(found(walk(actions)))
        np.testing.assert_array_equal(barred, back)
        assert barred[INVERSE[actions[-1]]]
        barred_at_all += barred.sum()
    assert 5 < barred_at_all < 5 * ROTATIONS


def test_a_long_way_home_is_known_too(walk):
    """Four turns of a degree, in a square, end 0.02 degrees from where they began: not at another place."""
    pitch, yaw = 0, 8
    square = [pitch, yaw, int(INVERSE[pitch])]
    assert bool(been(walk(square))[INVERSE[yaw]])
    assert not bool(been(walk(square))[yaw])


def test_stop_stays(walk):
    memory = walk([3, STOP])
    np.testing.assert_array_equal(memory.trail[2], memory.trail[1])
    assert int(memory.turns) == 2


def test_a_barred_rotation_is_not_taken(lookup):
    near = Offset(vector=jnp.zeros(3), spread=jnp.float32(-5), near=jnp.float32(5))
    far = Offset(vector=jnp.zeros(3), spread=jnp.float32(-5), near=jnp.float32(-5))
    values = jnp.linspace(0.1, 0.2, ROTATIONS)
    for offset in (near, far):
        barred = jnp.zeros(ROTATIONS, bool)
        taken = []
        for _ in range(6):
            action = int(choose(nothing().belief, values, offset, barred, Habits(), lookup))
            taken.append(action)
            barred = barred.at[action].set(True)
        assert len(set(taken)) == 6
    assert taken == [23, 22, 21, 20, 19, 18]


def test_an_ended_game_is_forgotten_and_the_others_are_not(walk):
    pair = jax.tree.map(lambda a, b: jnp.stack([a, b]), walk([3, 5]), walk([7]))
    kept = Agent.renewed(pair, jnp.array([True, False]))
    for part, expected in ((0, nothing()), (1, walk([7]))):
        got = jax.tree.map(lambda leaf, i=part: leaf[i], kept)
        jax.tree.map(np.testing.assert_array_equal, got, expected)
