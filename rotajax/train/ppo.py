"""PPO on the same network: the rotation is drawn from the expected worths, sharpened by a learnt number.

The filter's belief belongs to what is observed: a minibatch takes it as it was before the picture. STOP is never drawn:
a game that is aligned ends by itself. No rotation is barred.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rotajax.env.state import RUNNING, SUCCESS, Params
from rotajax.train.agent import Agent
from rotajax.train.belief import Habits, Tables
from rotajax.train.env import advance_many
from rotajax.train.layers import Dense
from rotajax.train.learner import Learner, fresh, passes
from rotajax.train.memory import Memory
from rotajax.train.policy import blank_policy, make_net
from rotajax.train.recipe import Recipe
from rotajax.train.world import Pictures, World
from rotajax.types import Array, Bool, Float32, Int32, Key, struct

# Weights of the rewards: success, IoU change; the privileged pose change is not used.
REWARD = (np.float32(1), np.float32(1), np.float32(0))
CLIP = 0.2
DISCOUNT, TRACE = 0.98, 0.95
ENTROPY, VALUE = 0.005, 0.5
# The sharpness before training, as a logarithm.
SHARP = float(np.log(30.0))


class Critic(eqx.Module):
    """The value of a state from the expected worths of the rotations and how far the game is."""

    up: Dense
    down: Dense

    def __init__(self, *, key: Key[Array, ""]):
        keys = jax.random.split(key)
        self.up, self.down = Dense(26, 32, key=keys[0]), Dense(32, 1, key=keys[1])

    def __call__(self, values: Float32[Array, "B 24"], clock: Float32[Array, "B 2"]) -> Float32[Array, "B"]:
        """Return the expected return."""
        return self.down(jax.nn.gelu(self.up(jnp.concatenate([values, clock], axis=1))))[:, 0]


@struct
class Turn:
    """What a minibatch needs of a turn."""

    seen: Pictures
    memory: Memory
    clock: Float32[Array, "*B 2"]
    action: Int32[Array, "*B"]
    log_chance: Float32[Array, "*B"]
    value: Float32[Array, "*B"]
    reward: Float32[Array, "*B"]
    ended: Bool[Array, "*B"]
    outcome: Int32[Array, "*B"]


def start(recipe: Recipe, world: World, params: Params, policy: dict | None = None) -> Learner:
    """Return the learner before the first update, from the weights of a policy or from scratch."""
    key, games_key, critic_key = jax.random.split(jax.random.key(recipe.seed), 3)
    policy = policy or blank_policy(recipe)
    net = {
        "net": policy["net"],
        "critic": eqx.filter(Critic(key=critic_key), eqx.is_array),
        "sharpness": jnp.float32(SHARP),
    }
    return fresh(recipe, net, policy["tilts"], key, games_key, world, params)


def policy_of(learner: Learner) -> dict[str, Any]:
    """Return what of a learner plays."""
    return {"net": learner.net["net"], "tilts": learner.tilts}


def make_update(recipe: Recipe, params: Params) -> Callable[[Learner, World, Tables], tuple[Learner, dict]]:
    """Return the function of one update, to be scanned; it returns its metrics too."""
    _, rest = make_net(recipe)
    _, critic_rest = eqx.partition(Critic(key=jax.random.key(0)), eqx.is_array)

    def judge(net: Any, tilts: Array, seen: Pictures, memory: Memory, clock: Array, lookup: Tables) -> tuple:
        player = Agent(net=eqx.combine(net["net"], rest), tilts=tilts, habits=Habits(), history=recipe.history)
        memory, worths, _ = player.look(seen, memory, lookup)
        value = eqx.combine(net["critic"], critic_rest)(jax.lax.stop_gradient(worths), clock)
        return memory, jax.nn.log_softmax(jnp.exp(net["sharpness"]) * worths), value

    def clock_of(state: Any) -> Float32[Array, "B 2"]:
        return jnp.stack([state.decisions / params.max_decisions, state.stale / params.patience], -1).astype(
            jnp.float32
        )

    def play(learner: Learner, key: Array, world: World, lookup: Tables) -> tuple[Learner, Turn, Array]:
        def turn(carry: tuple, turn_key: Array) -> tuple[tuple, Turn]:
            games, seen, before = carry
            clock = clock_of(games.state)
            memory, logs, value = judge(learner.net, learner.tilts, seen, before, clock, lookup)
            action = jax.random.categorical(turn_key, logs).astype(jnp.int32)
            games, step = advance_many(games, action, world, params, REWARD)
            ended = step.outcome != RUNNING
            memory = Agent.renewed(Agent.moved(memory, action, lookup), ended)
            chance = jnp.take_along_axis(logs, action[:, None], axis=1)[:, 0]
            kept = Turn(
                seen=seen,
                memory=before,
                clock=clock,
                action=action,
                log_chance=chance,
                value=value,
                reward=step.reward,
                ended=ended,
                outcome=step.outcome,
            )
            return (games, step.seen, memory), kept

        carry = (learner.games, learner.seen, learner.memory)
        (games, seen, memory), turns = jax.lax.scan(turn, carry, jax.random.split(key, recipe.turns))
        _, _, last = judge(learner.net, learner.tilts, seen, memory, clock_of(games.state), lookup)
        return replace(learner, games=games, seen=seen, memory=memory), turns, last

    def advantages(turns: Turn, last: Float32[Array, "B"]) -> Float32[Array, "T B"]:
        def back(carry: tuple, turn: tuple) -> tuple[tuple, Array]:
            following, advantage = carry
            value, reward, ended = turn
            going = jnp.float32(1) - ended
            surprise = reward + jnp.float32(DISCOUNT) * going * following - value
            advantage = surprise + jnp.float32(DISCOUNT * TRACE) * going * advantage
            return (value, advantage), advantage

        items = (turns.value, turns.reward, turns.ended.astype(jnp.float32))
        return jax.lax.scan(back, (last, jnp.zeros_like(last)), items, reverse=True)[1]

    def loss(net: Any, tilts: Array, batch: tuple, lookup: Tables) -> tuple[Array, tuple]:
        turns, advantage, goal = batch
        _, logs, value = judge(net, tilts, turns.seen, turns.memory, turns.clock, lookup)
        chance = jnp.take_along_axis(logs, turns.action[:, None], axis=1)[:, 0]
        ratio = jnp.exp(chance - turns.log_chance)
        scaled = (advantage - jnp.mean(advantage)) / (jnp.std(advantage) + jnp.float32(1e-6))
        clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
        surrogate = -jnp.mean(jnp.minimum(ratio * scaled, clipped * scaled))
        entropy = -jnp.mean(jnp.sum(jnp.exp(logs) * logs, axis=1))
        error = jnp.mean((value - goal) ** 2)
        total = surrogate + jnp.float32(VALUE) * error - jnp.float32(ENTROPY) * entropy
        return total, (surrogate, error, entropy)

    def update(learner: Learner, world: World, lookup: Tables) -> tuple[Learner, dict]:
        play_key, order_key = jax.random.split(jax.random.fold_in(learner.key, learner.update))
        learner, turns, last = play(learner, play_key, world, lookup)
        advantage = advantages(turns, last)
        batch = (turns, advantage, advantage + turns.value)
        batch = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), batch)
        tilts = learner.tilts
        net, state, losses = passes(recipe, learner, batch, lambda net, part: loss(net, tilts, part, lookup), order_key)
        metrics = {
            "loss": jnp.mean(losses[0]),
            "surrogate": jnp.mean(losses[1]),
            "value_error": jnp.mean(losses[2]),
            "entropy": jnp.mean(losses[3]),
            "reward": jnp.mean(turns.reward),
            "ended": jnp.sum(turns.ended),
            "succeeded": jnp.sum(turns.outcome == SUCCESS),
        }
        return replace(learner, net=net, optimiser=state, update=learner.update + 1), metrics

    return update
