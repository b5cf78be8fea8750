import jax
import jax.numpy as jnp
import numpy as np

from rotajax.env.actions import STOP, action_index
from rotajax.geometry.rotation import MATRICES
from rotajax.train import grid
from rotajax.train.belief import Habits, know_nothing, likelihood, move, see, worth


def belief_at(R, spread_deg=12.0):
    """A belief that falls with the angle from a pose."""
    trace = np.einsum("nij,ij->n", grid.poses(), R)
    angle = np.rad2deg(np.arccos(np.clip((trace - 1) / 2, -1, 1)))
    return jnp.asarray(-((angle / spread_deg) ** 2) / 2, jnp.float32)


def peak(belief):
    return grid.poses()[int(np.argmax(np.asarray(belief)))]


def angle(a, b):
    return np.rad2deg(np.arccos(np.clip((np.einsum("ij,ij->", a, b) - 1) / 2, -1, 1)))


def test_a_belief_moves_as_the_pose_does(lookup):
    R = grid.poses()[(4 * grid.TURNS + 5) * grid.TURNS + 9]
    for action in (action_index("YAW_POS", 30), action_index("PITCH_NEG", 30), action_index("ROLL_POS", 30)):
        moved = move(belief_at(R), jnp.int32(action), lookup)
        assert angle(peak(moved), MATRICES[action] @ R) < 12
    np.testing.assert_array_equal(move(belief_at(R), jnp.int32(STOP), lookup), belief_at(R))


def test_the_worth_is_highest_for_the_rotation_that_leads_home(lookup):
    for action in (3, 7, 11, 15, 19, 23):  # the turns of 30 degrees
        inverse = action ^ 4
        values = worth(belief_at(MATRICES[inverse], 6.0), Habits(), lookup)
        assert int(jnp.argmax(values)) == action


def test_evidence_adds_up_and_doubt_bounds_it(lookup):
    logits = 5 * belief_at(grid.poses()[1234])
    shares = jnp.asarray(grid.volumes().reshape(len(grid.TILTS), -1).sum(axis=1))
    evidence = likelihood(logits, shares, Habits())
    once = see(know_nothing(), evidence, Habits(keep=jnp.float32(1)), lookup)
    twice = see(once, evidence, Habits(keep=jnp.float32(1)), lookup)

    def entropy(b):
        share = jax.nn.softmax(b + jnp.log(lookup.volume))
        return -float(jnp.sum(share * jnp.log(share + 1e-12)))

    assert entropy(twice) < entropy(once)
    assert float(evidence.min()) >= np.log(float(Habits().doubt)) - 1e-4


def test_a_game_that_goes_on_is_not_at_its_target(lookup):
    belief = see(know_nothing(), jnp.zeros(grid.CELLS), Habits(), lookup)
    at, away = int(np.argmin(grid.angles_deg())), int(np.argmax(grid.angles_deg()))
    assert float(belief[at]) < float(belief[away]) - 2
