"""The training environment: many games at once by the rules of `rotajax.env`, ended ones begun anew on a fresh start.

Silhouettes are those of spans; evaluation (`rotajax.train.play`) always uses the exact renderer.
"""

import dataclasses

import jax
import jax.numpy as jnp

from rotajax.compare import iou, pose_error_deg
from rotajax.devices import batch_map
from rotajax.env.rules import judge
from rotajax.env.state import RUNNING, SUCCESS, Params, State, first_state
from rotajax.env.step import turned
from rotajax.train.draw import draw_icon, draw_start
from rotajax.train.world import Pictures, World, look, silhouette
from rotajax.types import Array, Bool, Float32, Int32, Key, Rotation, UInt32, struct

# A start that is aligned is drawn again, so often at most; a ball would never be anything else.
DRAWS = 8


@struct
class Game:
    """One game of the environment, or a batch of them."""

    icon: Int32[Array, "*B"]
    state: State  # without its task and its target, which the world has
    pose_error: Float32[Array, "*B"]  # degrees
    actions: Int32[Array, "*B K"]  # the last K, the newest last; -1 where there was none
    key: Key[Array, "*B"]


@struct
class Step:
    """What a step returns: `seen` is the picture to act on, of a fresh game where the last one ended."""

    seen: Pictures
    final: Pictures  # the last picture of the game that was played; `seen` itself where it goes on
    reward: Float32[Array, "*B"]
    terminated: Bool[Array, "*B"]
    truncated: Bool[Array, "*B"]
    outcome: Int32[Array, "*B"]
    iou: Float32[Array, "*B"]
    pose_error: Float32[Array, "*B"]
    steps: Int32[Array, "*B"]


def begin(key: Key[Array, ""], world: World, params: Params, *, memory: int = 1) -> tuple[Game, Pictures]:
    """Return a fresh game: an icon and a start that is not aligned, both drawn."""
    icon_key, start_key, next_key = jax.random.split(key, 3)
    icon = draw_icon(icon_key, world)

    def again(carry: tuple[Array, ...]) -> Array:
        return (carry[2] >= params.success_iou) & (carry[0] < DRAWS)

    def draw(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        R = draw_start(jax.random.fold_in(start_key, carry[0]))
        current = silhouette(world, icon, R)
        return carry[0] + 1, R, iou(current, world.target[icon]), current

    first = (jnp.int32(0), jnp.eye(3, dtype=jnp.float32), jnp.float32(1), jnp.zeros((320, 10), jnp.uint32))
    _, R, start_iou, current = jax.lax.while_loop(again, draw, first)
    state = first_state(None, None, R, start_iou, jnp.int32(RUNNING))
    error = pose_error_deg(R, world.group[icon])
    actions = jnp.full(memory, -1, jnp.int32)
    game = Game(icon=icon, state=state, pose_error=error, actions=actions, key=next_key)
    return game, look(world, icon, R, current)


def advance(
    game: Game, action: Int32[Array, ""], world: World, params: Params, weights: tuple[Array, Array, Array]
) -> tuple[Game, Step]:
    """Return the game after an action, or a fresh one where that ended it, and what the step gave.

    `weights` are those of the rewards: success (1 once), IoU change, pose change (degrees / 180; privileged).
    """
    R = turned(game.state.R, action)
    current = silhouette(world, game.icon, R)
    state = judge(game.state, action, R, iou(current, world.target[game.icon]), params)
    error = pose_error_deg(R, world.group[game.icon])
    gains = (
        (state.outcome == SUCCESS).astype(jnp.float32),
        state.iou - state.previous_iou,
        (game.pose_error - error) / jnp.float32(180),
    )
    reward = jnp.float32(0)
    for weight, gain in zip(weights, gains, strict=True):
        reward = reward + weight * gain
    actions = jnp.concatenate([game.actions[1:], action[None]])
    played = dataclasses.replace(game, state=state, pose_error=error, actions=actions)
    final = look(world, game.icon, R, current)
    ended = state.outcome != RUNNING
    memory = game.actions.shape[0]
    following, seen = jax.lax.cond(
        ended, lambda: begin(game.key, world, params, memory=memory), lambda: (played, final)
    )
    step = Step(
        seen=seen,
        final=final,
        reward=reward,
        terminated=state.terminated,
        truncated=state.truncated,
        outcome=state.outcome,
        iou=state.iou,
        pose_error=error,
        steps=state.steps,
    )
    return following, step


def begin_many(key: Key[Array, ""], count: int, world: World, params: Params, *, memory: int = 1):
    """Return `count` fresh games and their pictures, batched."""
    one = batch_map(lambda k: begin(k, world, params, memory=memory), jax.default_backend(), 256)
    return one(jax.random.split(key, count))


def advance_many(games: Game, actions: Int32[Array, "B"], world: World, params: Params, weights: tuple):
    """Return the games after their actions, and the steps, batched."""
    one = batch_map(lambda item: advance(item[0], item[1], world, params, weights), jax.default_backend(), 256)
    return one((games, actions))


def look_many(world: World, icons: Int32[Array, "B"], R: Float32[Array, "B 3 3"]) -> Pictures:
    """Return the pictures of icons under poses, batched."""

    def one(item: tuple[Array, Rotation]) -> Pictures:
        current: UInt32[Array, "320 10"] = silhouette(world, *item)
        return look(world, *item, current)

    return batch_map(one, jax.default_backend(), 256)((icons, R))
