import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rotajax.compare import angle_deg
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.geometry.symmetry import Symmetry
from rotajax.geometry.symmetry import group as symmetry_group
from rotajax.train.belief import Habits, choose, know_nothing, leads_to, shows
from rotajax.train.draw import NEAR_DEG, draw_pose
from rotajax.train.env import look_many
from rotajax.train.grid import TURNS
from rotajax.train.nudge import Nudge, Offset, offset_loss, true_offset
from rotajax.train.polar import RAYS, RINGS, polar_mask, polar_view


def exp(vector):
    """The rotation matrix of a rotation vector, by Rodrigues' formula in float64."""
    angle = np.linalg.norm(vector)
    x, y, z = np.asarray(vector, np.float64) / max(angle, 1e-12)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K).astype(np.float32)


def vectors(count, most_deg, seed=0):
    v = np.random.default_rng(seed).normal(size=(count, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return v * np.deg2rad(np.linspace(0.5, most_deg, count))[:, None]


def test_turning_all_pictures_turns_the_offset():
    head = Nudge(8, key=jax.random.key(2))
    pictures = jax.random.uniform(jax.random.key(0), (3, RAYS, 3 * RINGS), jnp.float32)
    plain = head(pictures)
    assert np.abs(np.asarray(plain.vector)).min() > 1e-5
    for turns in (1, 7):
        turned = head(jnp.roll(pictures, turns * RAYS // TURNS, axis=1))
        c, s = np.cos(turns * 2 * np.pi / TURNS), np.sin(turns * 2 * np.pi / TURNS)
        expected = np.asarray(plain.vector) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], np.float32)
        np.testing.assert_allclose(turned.vector, expected, atol=1e-5)
        np.testing.assert_allclose(turned.near, plain.near, atol=1e-5)
        np.testing.assert_allclose(turned.spread, plain.spread, atol=1e-5)


def test_the_true_offset_is_from_the_nearest_equivalent_pose():
    group = jnp.asarray(symmetry_group(Symmetry(4, 0.0)))
    read = jax.jit(true_offset)
    for vector in vectors(8, 28.0):
        for S in (np.eye(3, dtype=np.float32), np.asarray(group[3])):
            found, angle = read(jnp.asarray(exp(vector) @ S), group)
            np.testing.assert_allclose(found, vector, atol=2e-5)
            np.testing.assert_allclose(angle, np.rad2deg(np.linalg.norm(vector)), atol=2e-3)
    alone = jnp.broadcast_to(jnp.eye(3, dtype=jnp.float32), (24, 3, 3))
    assert np.isfinite(np.asarray(read(jnp.diag(jnp.array([1.0, -1.0, -1.0])), alone)[0])).all()


def test_poses_far_away_teach_no_offset():
    found = Offset(vector=jnp.ones((2, 3)), spread=jnp.zeros(2), near=jnp.zeros(2))
    both = offset_loss(found, jnp.zeros((2, 3)), jnp.array([10.0, 90.0]))[0]
    one = jax.tree.map(lambda leaf: leaf[:1], found)
    np.testing.assert_allclose(both, offset_loss(one, jnp.zeros((1, 3)), jnp.array([10.0]))[0], rtol=1e-6)
    gradient = jax.grad(
        lambda v: offset_loss(
            Offset(vector=v, spread=found.spread, near=found.near), jnp.zeros((2, 3)), jnp.array([10.0, 90.0])
        )[0]
    )
    slope = np.asarray(gradient(found.vector))
    assert np.abs(slope[0]).min() > 0
    assert np.abs(slope[1]).max() == 0


def test_the_spread_that_is_likeliest_is_a_third_of_the_error():
    spreads = jnp.linspace(-5, 0, 501)
    wrong = jnp.array([[0.12, 0.0, 0.0]])

    def loss(spread):
        return offset_loss(
            Offset(vector=wrong, spread=spread[None], near=jnp.zeros(1)), jnp.zeros((1, 3)), jnp.array([5.0])
        )[0]

    best = float(jnp.exp(spreads[jnp.argmin(jax.vmap(loss)(spreads))]))
    np.testing.assert_allclose(3 * best, 0.12, rtol=0.02)


@pytest.fixture(scope="module")
def near_pictures(world):
    """Offsets from the target of 20 degrees at most, and what is seen there, stacked for the head."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        truth = vectors(24, 20.0, seed=3).astype(np.float32)
        poses = jnp.asarray(np.stack([exp(v) for v in truth]))
        seen = jax.jit(look_many)(world, jnp.zeros(24, jnp.int32), poses)
        parts = ((polar_mask, seen.current), (polar_view, seen.view), (polar_mask, seen.target))
        return jnp.concatenate([jax.vmap(f)(p) for f, p in parts], axis=-1), jnp.asarray(truth)


def test_small_offsets_of_one_icon_are_learnt(near_pictures):
    pictures, truth = near_pictures
    angle = jnp.rad2deg(jnp.linalg.norm(truth, axis=1))
    net, rest = eqx.partition(Nudge(16, key=jax.random.key(0)), eqx.is_array)
    adam = optax.adam(3e-3)

    def step(carry, _):
        net, state = carry
        gradient = jax.grad(lambda n: offset_loss(eqx.combine(n, rest)(pictures), truth, angle)[0])(net)
        change, state = adam.update(gradient, state, net)
        return (optax.apply_updates(net, change), state), None

    learnt = jax.jit(lambda net: jax.lax.scan(step, (net, adam.init(net)), None, length=150)[0][0])(net)

    def error(net):
        found = eqx.combine(net, rest)(pictures).vector
        return float(jnp.median(jnp.rad2deg(jnp.linalg.norm(found - truth, axis=1))))

    assert error(net) > 5
    assert error(learnt) < 2


def test_near_the_target_the_rotation_that_leads_closest_is_taken(lookup):
    act = jax.jit(
        lambda v: choose(
            know_nothing(),
            jnp.zeros(24),
            Offset(vector=v, spread=jnp.float32(-5), near=jnp.float32(5)),
            jnp.zeros(24, bool),
            Habits(),
            lookup,
        )
    )
    taken = set()
    for vector in vectors(12, 25.0, seed=1):
        after = angle_deg(compose(jnp.asarray(MATRICES), jnp.asarray(exp(vector))[None].repeat(24, axis=0)))
        np.testing.assert_allclose(leads_to(jnp.asarray(vector, jnp.float32), lookup), after, atol=0.05)
        action = int(act(jnp.asarray(vector, jnp.float32)))
        assert float(after[action]) <= float(after.min()) + 0.05
        taken.add(action)
    assert len(taken) > 3


def test_an_offset_that_is_far_or_unsure_is_not_followed():
    def followed(spread_deg, near):
        spread = jnp.log(jnp.deg2rad(jnp.float32(spread_deg)))
        return bool(shows(Offset(vector=jnp.zeros(3), spread=spread, near=jnp.float32(near)), Habits()))

    assert followed(0.5, 3)
    assert not followed(0.5, -3)
    assert not followed(20.0, 3)
    blank = jnp.zeros((1, RAYS, 3 * RINGS), jnp.float32)
    untrained = jax.tree.map(lambda leaf: leaf[0], Nudge(8, key=jax.random.key(0))(blank))
    assert not bool(shows(untrained, Habits()))


def test_a_third_of_the_free_poses_are_near_the_target():
    poses = jax.jit(jax.vmap(draw_pose))(jax.random.split(jax.random.key(0), 6000))
    np.testing.assert_allclose(
        jnp.einsum("nij,nkj->nik", poses, poses), np.broadcast_to(np.eye(3), (6000, 3, 3)), atol=1e-5
    )
    angles = np.asarray(angle_deg(poses))
    # Two thirds of a normal angle are within one spread; hardly any other pose is.
    assert abs((angles < NEAR_DEG).mean() - 0.683 / 3) < 0.03
    assert abs((angles < NEAR_DEG / 2).mean() - 0.383 / 3) < 0.02
    # The axes are even: no direction is preferred.
    near = poses[angles < NEAR_DEG]
    axis = np.stack(
        [near[:, 2, 1] - near[:, 1, 2], near[:, 0, 2] - near[:, 2, 0], near[:, 1, 0] - near[:, 0, 1]], axis=1
    )
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    np.testing.assert_allclose((axis**2).mean(axis=0), 1 / 3, atol=0.04)
    np.testing.assert_allclose(axis.mean(axis=0), 0, atol=0.06)
