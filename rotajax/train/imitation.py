"""Imitation of a teacher that knows the pose, on drawn poses and on those that the policy itself meets (DAgger).

An update draws `free` poses, plays `games` for `turns` steps with the present policy, labels all of these states with
the true pose (any of the equivalent ones) and with the teacher's rotation, and passes over them `epochs` times.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from rotajax.env.state import RUNNING, SUCCESS, Params
from rotajax.train.agent import Agent
from rotajax.train.belief import Habits, Tables, tilt_shares, worth
from rotajax.train.draw import draw_icon, draw_pose, label
from rotajax.train.env import advance_many, look_many
from rotajax.train.grid import Corners
from rotajax.train.learner import Learner, fresh, passes
from rotajax.train.nudge import offset_loss, true_offset
from rotajax.train.policy import blank_policy, make_net
from rotajax.train.recipe import Recipe
from rotajax.train.teacher import TEACHERS
from rotajax.train.world import Pictures, World
from rotajax.types import Array, Float32, Int32, struct

# How fast the running share of each tilt among the labels follows.
FOLLOW = 0.02
# The teacher's rotation is imitated through the expected worths, sharpened by this.
SHARPNESS = 30.0


@struct
class Batch:
    """States to learn from: what is seen, the cells and the offset of the true pose, the teacher's rotation."""

    seen: Pictures
    truth: Corners
    offset: Float32[Array, "B 3"]
    angle: Float32[Array, "B"]
    action: Int32[Array, "B"]


def start(recipe: Recipe, world: World, params: Params, policy: dict | None = None) -> Learner:
    """Return the learner before the first update, from the weights of a policy or from scratch."""
    key, games_key = jax.random.split(jax.random.key(recipe.seed))
    policy = policy or blank_policy(recipe)
    return fresh(recipe, policy["net"], policy["tilts"], key, games_key, world, params)


def make_update(recipe: Recipe, params: Params) -> Callable[[Learner, World, Tables], tuple[Learner, dict]]:
    """Return the function of one update, to be scanned; it returns its metrics too."""
    _, rest = make_net(recipe)
    teach = TEACHERS[recipe.teacher]
    nothing = (jnp.float32(0),) * 3

    def agent(learner: Learner) -> Agent:
        net = eqx.combine(learner.net, rest)
        return Agent(net=net, tilts=learner.tilts, habits=Habits(), history=recipe.history)

    def play(learner: Learner, world: World, lookup: Tables) -> tuple[Learner, tuple[tuple, Any]]:
        player = agent(learner)

        def turn(carry: tuple, _: None) -> tuple[tuple, tuple]:
            games, seen, memory = carry
            R, icon = games.state.R, games.icon
            actions, memory = player.act(seen, memory, lookup)
            games, step = advance_many(games, actions, world, params, nothing)
            memory = Agent.renewed(memory, step.outcome != RUNNING)
            return (games, step.seen, memory), ((seen, icon, R), step.outcome)

        carry = (learner.games, learner.seen, learner.memory)
        carry, (met, outcomes) = jax.lax.scan(turn, carry, None, length=recipe.turns)
        met = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), met)
        games, seen, memory = carry
        return replace(learner, games=games, seen=seen, memory=memory), (met, outcomes)

    def loss(net: Any, batch: Batch, lookup: Tables) -> tuple[Array, tuple[Array, ...]]:
        logits, offsets = eqx.combine(net, rest)(batch.seen.target, batch.seen.view, batch.seen.current)
        logs = jax.nn.log_softmax(logits)
        found = jnp.take_along_axis(logs, batch.truth.cell, axis=1) * batch.truth.weight
        pose = -jnp.mean(jnp.sum(found, axis=1))
        # The posterior is on cells already: no volume, the belief of one picture as it stands.
        values = jax.vmap(lambda b: worth(b, Habits(), lookup))(logs - jnp.log(lookup.volume)[None])
        scores = jnp.float32(SHARPNESS) * values
        right = jnp.take_along_axis(jax.nn.log_softmax(scores), batch.action[:, None], axis=1)
        action = -jnp.mean(right)
        offset, near = offset_loss(offsets, batch.offset, batch.angle)
        extra = jnp.float32(recipe.action_weight) * action + jnp.float32(recipe.offset_weight) * (offset + near)
        return pose + extra, (pose, action, offset, near)

    def update(learner: Learner, world: World, lookup: Tables) -> tuple[Learner, dict]:
        key = jax.random.fold_in(learner.key, learner.update)
        icon_key, pose_key, label_key, order_key = jax.random.split(key, 4)
        learner, ((seen, icons, R), outcomes) = play(learner, world, lookup)
        free_icons = jax.vmap(draw_icon, (0, None))(jax.random.split(icon_key, recipe.free), world)
        free_R = jax.vmap(draw_pose)(jax.random.split(pose_key, recipe.free))
        free = look_many(world, free_icons, free_R)
        both = (seen, icons, R), (free, free_icons, free_R)
        seen, icons, R = jax.tree.map(lambda met, drawn: jnp.concatenate([met, drawn]), *both)
        keys = jax.random.split(label_key, recipe.states)
        truth = jax.vmap(label)(keys, world.group[icons], world.symmetries[icons], R)
        offset, angle = jax.vmap(true_offset)(R, world.group[icons])
        action = jax.vmap(teach)(R, world.group[icons])
        states = Batch(seen=seen, truth=truth, offset=offset, angle=angle, action=action)
        shares = tilt_shares(truth.cell, truth.weight)
        tilts = learner.tilts + jnp.float32(FOLLOW) * (shares - learner.tilts)

        net, state, losses = passes(recipe, learner, states, lambda net, batch: loss(net, batch, lookup), order_key)
        learner = replace(learner, net=net, optimiser=state, tilts=tilts, update=learner.update + 1)
        ends = outcomes != RUNNING
        first = recipe.states // recipe.batch  # the first pass sees states that the network has not learnt from
        metrics = {
            "loss": jnp.mean(losses[0][:first]),
            "pose_loss": jnp.mean(losses[1][:first]),
            "action_loss": jnp.mean(losses[2][:first]),
            "offset_loss": jnp.mean(losses[3][:first]),
            "near_loss": jnp.mean(losses[4][:first]),
            "ended": jnp.sum(ends),
            "succeeded": jnp.sum(outcomes == SUCCESS),
        }
        return learner, metrics

    return update


def policy_of(learner: Learner) -> dict[str, Any]:
    """Return what of a learner plays."""
    return {"net": learner.net, "tilts": learner.tilts}
