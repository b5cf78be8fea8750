"""Checkpoints: one folder a moment of a run, there whole or not at all, restored whole or not at all.

`meta.json` holds the format, the recipe, the suite, the update and, for every array, its shape, kind and sha256; the
arrays are Orbax's, in `policy` (what plays) and `learner` (what a run goes on from; a checkpoint to ship has none).
"""

import dataclasses
import hashlib
import json
import os
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rotajax.checks import require, require_folder
from rotajax.files import write_atomically
from rotajax.train.recipe import Recipe

FORMAT = "rotajax.checkpoint/2"
META = "meta.json"
PARTS = ("policy", "learner")
# Checkpoints of a run that are kept.
KEPT = 2


def save(folder: Path, recipe: Recipe, suite: dict, update: int, policy: Any, learner: Any | None) -> Path:
    """Write a checkpoint folder, which must not exist, and return it. Trees may hold keys of random streams."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    meta = {
        "format": FORMAT,
        "recipe": dataclasses.asdict(recipe),
        "suite": suite,
        "update": update,
        "versions": {name: version(name) for name in ("jax", "equinox", "optax", "orbax-checkpoint")},
    }
    for name, tree in zip(PARTS, (policy, learner), strict=True):
        if tree is not None:
            arrays = _named(tree)
            _checkpointer().save((partial / name).absolute(), arrays)
            # It says where it was written, which is nobody's business once the folder has its name.
            mark = partial / name / "commit_success.txt"
            if mark.exists():
                mark.write_text("whole\n")
            meta[name] = {key: _mark(value) for key, value in arrays.items()}
    write_atomically(partial / META, json.dumps(meta, indent=1) + "\n")
    os.replace(partial, folder)
    return folder


def find(folder: str | Path, name: str = "checkpoint") -> Path:
    """Return the checkpoint that a folder is, or the newest one of a run's folder. Raises ValueError without any."""
    folder = require_folder(folder, name)
    if (folder / META).is_file():
        return folder
    found = sorted(path.parent for path in folder.glob(f"checkpoints/*/{META}"))
    require(bool(found), name, "a checkpoint, or a run's folder with one", f"neither: '{folder}'")
    return found[-1]


def read_meta(folder: Path) -> dict:
    """Return the meta.json of a checkpoint. Raises ValueError for one that is not whole or of another format."""
    try:
        meta = json.loads((folder / META).read_text())
    except (OSError, ValueError):
        meta = {}
    require(
        isinstance(meta, dict) and bool(meta), f"checkpoint '{folder}'", "a readable meta.json", "none: it is not whole"
    )
    require(meta.get("format") == FORMAT, f"checkpoint '{folder}': format", FORMAT, repr(meta.get("format")))
    return meta


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of a checkpoint. Raises ValueError for one that this version does not know."""
    asked = read_meta(folder).get("recipe")
    try:
        return Recipe(**asked).check()  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"checkpoint '{folder}': recipe: expected one of this version, got: {error}") from None


def restore(folder: Path, part: str, like: Any) -> Any:
    """Return a part of a checkpoint as a tree like `like`: the same names, shapes and kinds, every byte as hashed.

    Arrays are placed on this machine's device, whatever the run had. Raises ValueError with the first difference.
    """
    name = f"checkpoint '{folder}': {part}"
    told = read_meta(folder).get(part, {})
    require(isinstance(told, dict) and bool(told), name, "its arrays", "none")
    wanted = _named(like)
    for key in [*wanted, *told]:
        there = told.get(key, [])[:2] == _mark(wanted[key])[:2] if key in wanted and key in told else False
        shape = _mark(wanted[key])[:2] if key in wanted else "nothing"
        require(there, f"{name}: {key}", f"{shape}", f"{told[key][:2] if key in told else 'nothing'}: another network?")
    try:
        arrays = _checkpointer().restore((folder / part).absolute(), wanted)
    except Exception as error:  # Orbax raises a dozen kinds for files that are gone or cut
        raise ValueError(f"{name}: expected whole files, got: {' '.join(str(error).split())[:200]}") from None
    for key, value in arrays.items():
        require(_mark(np.asarray(value)) == told[key], f"{name}: {key}", "the bytes that were saved", "others")
    leaves, structure = jax.tree.flatten(like)
    restored = [_typed(arrays[key], leaf) for key, leaf in zip(wanted, leaves, strict=True)]
    return jax.tree.unflatten(structure, restored)


def prune(checkpoints: Path) -> None:
    """Remove all but the newest checkpoints of a run, and what a kill left of unfinished ones."""
    for old in sorted(checkpoints.glob("[0-9]*"))[:-KEPT]:
        shutil.rmtree(old)
    for left in checkpoints.glob(".*.partial"):
        shutil.rmtree(left)


def _checkpointer() -> Any:
    """Return Orbax's checkpointer that returns when all is written."""
    import orbax.checkpoint as ocp

    return ocp.Checkpointer(ocp.StandardCheckpointHandler())


def _named(tree: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a tree by their paths; keys of random streams as their words."""
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        name = "/".join(_plain(step) for step in path) or "value"
        if eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        found[name] = np.asarray(leaf)
    return found


def _plain(step: Any) -> str:
    for attribute in ("name", "key", "idx"):
        if hasattr(step, attribute):
            return str(getattr(step, attribute))
    return str(step)


def _mark(array: np.ndarray) -> list:
    data = np.ascontiguousarray(array)
    return [list(array.shape), str(array.dtype), hashlib.sha256(data.tobytes()).hexdigest()]


def _typed(array: Any, leaf: Any) -> Any:
    if eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(leaf))
    return jnp.asarray(array)
