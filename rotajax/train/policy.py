"""`load_agent`: the player that a checkpoint holds."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from rotajax.train.agent import Agent
from rotajax.train.belief import Habits
from rotajax.train.checkpoint import find, read_meta, read_recipe, restore
from rotajax.train.grid import TILTS
from rotajax.train.net import PoseNet
from rotajax.train.recipe import Recipe

PREFIX = "checkpoint:"


def make_net(recipe: Recipe) -> tuple[Any, Any]:
    """Return the arrays of a fresh network of a recipe, and the rest of it."""
    names = ("width", "depth", "match", "nudge", "auxiliary")
    shape = {name: getattr(recipe, name) for name in names}
    return eqx.partition(PoseNet(**shape, key=jax.random.key(recipe.seed)), eqx.is_array)


def blank_policy(recipe: Recipe) -> dict[str, Any]:
    """Return what a checkpoint's `policy` holds, before any training."""
    return {"net": make_net(recipe)[0], "tilts": jnp.full(len(TILTS), 1 / len(TILTS), jnp.float32)}


def make_agent(recipe: Recipe, policy: dict[str, Any], habits: Habits | None = None) -> Agent:
    """Return the player of a policy's arrays."""
    net = eqx.combine(policy["net"], make_net(recipe)[1])
    return Agent(net=net, tilts=policy["tilts"], habits=habits or Habits(), history=recipe.history)


def load_agent(
    folder: str | Path, habits: Habits | None = None, *, auxiliary: bool = True, history: bool = True
) -> Agent:
    """Return the player of a checkpoint or of the newest one of a run; without the view or its memory where not asked.

    Raises ValueError for what is not whole.
    """
    found = find(folder)
    recipe = read_recipe(found)
    recipe = replace(recipe, auxiliary=recipe.auxiliary and auxiliary, history=recipe.history and history)
    return make_agent(recipe, restore(found, "policy", blank_policy(recipe)), habits)


def identity(folder: str | Path) -> dict:
    """Return what a record says of a checkpoint: its update, its suite and the hash of its first weights' hashes."""
    meta = read_meta(find(folder))
    weights = "".join(mark[2] for mark in meta["policy"].values())
    return {
        "update": meta["update"],
        "suite": meta["suite"],
        "sha256": hashlib.sha256(weights.encode()).hexdigest(),
    }
