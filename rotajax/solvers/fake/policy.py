"""A player that knows the suite: it finds the task by its first picture, follows the listed actions, asks a policy."""

import asyncio
import dataclasses
import hashlib
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.checks import require
from rotajax.env.actions import STOP, action_index
from rotajax.env.state import Params
from rotajax.env.step import as_move, reset
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.policies.baseline import POLICIES
from rotajax.render.splat import splat
from rotajax.solvers.fake.asked import Asked, BadRequest
from rotajax.solvers.fake.pictures import Pictures, read_panel, read_picture
from rotajax.solvers.fake.players import Player, answer
from rotajax.tasks.suite import load_suite
from rotajax.tasks.task import Task
from rotajax.types import Array, Int32, Mask, Rotation


def policy_player(name: str, suite: str | None) -> Player:
    """Return the player of a greedy policy on a suite, by name or folder. Raises ValueError where there is no suite."""
    require(suite is not None, f"serve-fake: --play {name}", "the suite that is played (--suite)", "none")
    tasks = load_suite(suite)  # type: ignore[arg-type]
    silhouettes = jax.jit(lambda task: (splat(task.solid, jnp.eye(3)), splat(task.solid, task.start)))
    known = {_key(*map(np.asarray, silhouettes(tasks[index]))): index for index in range(len(tasks))}
    policy, key = POLICIES[name], jax.random.key(0)

    @jax.jit
    def decide(task: Task, R: Rotation) -> Int32[Array, ""]:
        state, _ = reset(task, Params())
        return as_move(policy(key, dataclasses.replace(state, R=R))).action

    def act(asked: Asked) -> str:
        if not asked.pictures:
            raise BadRequest("expected a picture", "messages")
        first: Pictures = read_panel(read_picture(asked.pictures[0]))
        index = known.get(_key(first.target, first.current))
        actions = [action_index(*_legal(named)) for named in asked.actions]
        if index is None or len(actions) != len(asked.pictures) - 1:
            raise BadRequest(f"{name} expects a task of suite {suite} and the whole history of its episode")
        task = tasks[index]
        R = jnp.asarray(task.start)
        for action in actions:
            R = R if action == STOP else compose(jnp.asarray(MATRICES[action]), R)
        return answer(int(decide(task, R)), f"{name} knows the pose.")

    # One thread: the device works on one decision at a time anyway.
    worker = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def play(asked: Asked) -> str:
        return await asyncio.get_running_loop().run_in_executor(worker, act, asked)

    return play


def _legal(named: tuple[str, int]) -> tuple[str, int]:
    return named if named[0] != "STOP" else ("STOP", 0)


def _key(target: Mask | np.ndarray, current: Mask | np.ndarray) -> str:
    return hashlib.sha256(np.packbits(target).tobytes() + np.packbits(current).tobytes()).hexdigest()
