"""The checkpoints that ship: small, without a path of the machine they come from, and able to play."""

from pathlib import Path

import jax
import numpy as np
import pytest

import rotajax as rx
from rotajax.env.state import SUCCESS
from rotajax.train.checkpoint import read_meta
from rotajax.train.play import play
from rotajax.train.policy import load_agent

FOLDER = Path(__file__).parents[2] / "data" / "checkpoints"
SHIPPED = ("small", "rota674")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_small_and_says_where_it_comes_from(name):
    files = [path for path in (FOLDER / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10e6
    assert read_meta(FOLDER / name)["suite"]["id"] == {"small": "mini", "rota674": "rota674-train"}[name]
    for path in files:
        assert b"/home/" not in path.read_bytes()
        assert b"/tmp/" not in path.read_bytes()


def test_what_ships_plays():
    # 26 and 24 of the 28 embedded tasks are won; a network that had learnt nothing would win none of these four.
    tasks = jax.tree.map(lambda leaf: np.asarray(leaf)[:4], rx.load_suite("mini").tasks)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        for name in SHIPPED:
            assert (play(load_agent(FOLDER / name), tasks).outcome == SUCCESS).sum() >= 3
