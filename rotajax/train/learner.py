"""`Learner`: all that a run carries from update to update; how it begins and how it descends."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from rotajax.env.state import Params
from rotajax.train.env import Game, begin_many
from rotajax.train.memory import Memory, nothing
from rotajax.train.recipe import Recipe
from rotajax.train.world import Pictures, World
from rotajax.types import Array, Float32, Int32, Key, struct


@struct
class Learner:
    """What a checkpoint's `learner` holds: with it the next update is the one that an undisturbed run would make."""

    net: Any  # the arrays that are learnt
    optimiser: Any
    tilts: Float32[Array, "tilts"]  # each tilt's share of the labels so far
    games: Game
    seen: Pictures
    memory: Memory
    key: Key[Array, ""]
    update: Int32[Array, ""]


def make_optimiser(recipe: Recipe) -> optax.GradientTransformation:
    """Return AdamW with a warm-up and a cosine down to a twentieth, gradients clipped to norm 1."""
    passes = recipe.epochs * (recipe.states // recipe.batch)
    warmup = min(recipe.warmup, recipe.updates // 2) * passes
    rate = optax.warmup_cosine_decay_schedule(0.0, recipe.rate, warmup, recipe.updates * passes, recipe.rate / 20)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=recipe.decay))


def fresh(
    recipe: Recipe, net: Any, tilts: Array, key: Key[Array, ""], games_key: Key[Array, ""], world: World, params: Params
) -> Learner:
    """Return the learner of a network before the first update, in the middle of nothing: all its games are new."""
    games, seen = begin_many(games_key, recipe.games, world, params)
    return Learner(
        net=net,
        optimiser=make_optimiser(recipe).init(net),
        tilts=tilts,
        games=games,
        seen=seen,
        memory=jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (recipe.games, *leaf.shape)), nothing()),
        key=key,
        update=jnp.int32(0),
    )


def passes(
    recipe: Recipe, learner: Learner, items: Any, loss: Callable[[Any, Any], tuple[Array, tuple]], key: Key[Array, ""]
) -> tuple[Any, Any, tuple[Array, ...]]:
    """Return the network and the optimiser's state after `epochs` passes over a batch, and every step's losses.

    `loss(net, minibatch)` gives the number that is descended and its parts; each pass takes a new order.
    """
    optimiser = make_optimiser(recipe)
    count = len(jax.tree.leaves(items)[0])

    def descend(carry: tuple, rows: Array) -> tuple[tuple, tuple]:
        net, state = carry
        batch = jax.tree.map(lambda leaf: leaf[rows], items)
        (total, parts), gradient = jax.value_and_grad(loss, has_aux=True)(net, batch)
        step, state = optimiser.update(gradient, state, net)
        return (optax.apply_updates(net, step), state), (total, *parts)

    orders = jax.vmap(lambda k: jax.random.permutation(k, count))(jax.random.split(key, recipe.epochs))
    rows = orders.reshape(-1, recipe.batch)
    (net, state), losses = jax.lax.scan(descend, (learner.net, learner.optimiser), rows)
    return net, state, losses
