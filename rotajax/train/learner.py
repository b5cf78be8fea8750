"""`Learner`: all that a run carries from update to update, and the optimiser that it is trained by."""

from typing import Any

import optax

from rotajax.train.env import Game
from rotajax.train.recipe import Recipe
from rotajax.train.world import Pictures
from rotajax.types import Array, Float32, Int32, Key, struct


@struct
class Learner:
    """What a checkpoint's `learner` holds: with it the next update is the one that an undisturbed run would make."""

    net: Any  # the arrays that are learnt
    optimiser: Any
    tilts: Float32[Array, "tilts"]  # each tilt's share of the labels so far
    games: Game
    seen: Pictures
    beliefs: Float32[Array, "B cells"]
    key: Key[Array, ""]
    update: Int32[Array, ""]


def make_optimiser(recipe: Recipe) -> optax.GradientTransformation:
    """Return AdamW with a warm-up and a cosine down to a twentieth, gradients clipped to norm 1."""
    passes = recipe.epochs * (recipe.states // recipe.batch)
    warmup = min(recipe.warmup, recipe.updates // 2) * passes
    rate = optax.warmup_cosine_decay_schedule(0.0, recipe.rate, warmup, recipe.updates * passes, recipe.rate / 20)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=recipe.decay))
