"""`Simulator`: the game of many episodes at once; turns that are asked for together are drawn together on the devices.

Rules and pictures are those of `env.step` and the exact renderer, bit for bit.
"""

import asyncio
import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from rotajax.checks import require
from rotajax.compare import pose_error_deg
from rotajax.devices import WHOLE, device_mesh, spread
from rotajax.env.actions import ACTIONS, STOP, action_index
from rotajax.env.rollout import HORIZON
from rotajax.env.rules import judge
from rotajax.env.state import RUNNING, Params, State, light
from rotajax.env.step import reset, step, turned
from rotajax.render.camera import SIZE
from rotajax.render.shade import shade
from rotajax.tasks.suite import Suite
from rotajax.tasks.task import Task, with_skeletons
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, View, struct

# A turn without an action: the pictures of a state as it is.
LOOK = -1
# Turns of a call where no more are waiting; the rest of it costs nothing. Another size is another compilation.
SMALL = 16
# A record's IoU and the one drawn again: another backend rounds some points to the next pixel.
IOU_TOLERANCE = 1e-3


@struct
class Scene:
    """A state and its pictures; the state without its task and its target, which never change."""

    state: State
    pose_error: Float32[Array, ""]
    current: Mask
    view: View  # drawn where it was wanted and the episode goes on

    def pictures(self, auxiliary: bool) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the view, or None without one, and the current silhouette, on the host."""
        return (np.asarray(self.view) if auxiliary else None), np.asarray(self.current)


@struct
class _Turn:
    """A turn that is asked for: task by its row, state, action or LOOK."""

    row: Int32[Array, "*B"]
    state: State
    action: Int32[Array, "*B"]
    real: Bool[Array, "*B"]  # False fills a call up and draws nothing


def _turn(turn: _Turn, tasks: Task, targets: Array, params: Params, auxiliary: Array) -> Scene:
    """Return the scene that a turn leads to; module-level, since the function keys the compilation."""

    def play() -> Scene:
        task = tasks[turn.row]
        state = dataclasses.replace(turn.state, task=task, target=targets[turn.row])
        looks = turn.action == LOOK
        after, seen = step(state, jnp.where(looks, STOP, turn.action), params)
        # A look keeps the state, but says the IoU that it saw.
        kept = dataclasses.replace(state, iou=after.iou)
        after = light(jax.tree.map(lambda a, b: jnp.where(looks, a, b), light(kept), light(after)))
        wanted = (after.outcome == RUNNING) & auxiliary
        view = jax.lax.cond(wanted, lambda R: shade(task.solid, R), lambda R: _no_view(), after.R)
        return Scene(state=after, pose_error=pose_error_deg(after.R, task.group), current=seen.current, view=view)

    def nothing() -> Scene:
        empty = jnp.zeros((SIZE, SIZE), jnp.bool_)
        return Scene(state=turn.state, pose_error=jnp.float32(0), current=empty, view=_no_view())

    return jax.lax.cond(turn.real, play, nothing)


def _leaf(value: int | bool) -> Any:
    return np.asarray(value, np.bool_ if isinstance(value, bool) else np.int32)


def _no_view() -> View:
    return jnp.zeros((SIZE, SIZE), jnp.uint8)


def _first(task: Task, params: Params) -> tuple[State, Mask]:
    state, _ = reset(task, params)
    return light(state), state.target


@jax.jit
def _replayed(state: State, action: Array, ious: Array, pose: Rotation, count: Array, params: Params) -> State:
    """Return the state after `count` recorded decisions; `pose` is the one before the last of them."""

    def body(state: State, item: tuple[Array, Array, Array]) -> tuple[State, None]:
        t, action, iou = item
        judged = judge(state, action, state.R, iou, params)
        return jax.tree.map(lambda a, b: jnp.where(t < count, b, a), state, judged), None

    state, _ = jax.lax.scan(body, state, (jnp.arange(HORIZON, dtype=jnp.int32), action, ious))
    last = action[jnp.maximum(count - 1, 0)]
    return dataclasses.replace(state, R=jnp.where(count == 0, state.R, turned(pose, last)))


def _prepared(tasks: Task, rows: Sequence[int]) -> Task:
    """Return the tasks with skeletons in these rows, and a copy of the first of them in all others.

    A run that goes on with a few makes no more, and still has the shapes that are compiled.
    """
    place = {row: index for index, row in enumerate(rows)}
    index = np.array([place.get(row, 0) for row in range(len(tasks.start))])
    part = with_skeletons(jax.tree.map(lambda leaf: np.asarray(leaf)[np.asarray(rows)], tasks))
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], part)


class Simulator:
    """The tasks of a suite on the devices, and the turns that are waiting to be drawn.

    rows: the tasks that are played; most: turns of one call; auxiliary: whether the view is drawn. Raises ValueError
    for more than 48 decisions.
    """

    def __init__(self, suite: Suite, params: Params, *, rows: Sequence[int], most: int, auxiliary: bool):
        require(int(params.max_decisions) <= HORIZON, "max_decisions", f"at most {HORIZON}", params.max_decisions)
        self.params = params
        mesh = device_mesh()
        tasks = _prepared(suite.tasks, rows)
        self._firsts, self.targets = spread(_first)(tasks, params)
        everywhere = NamedSharding(mesh, WHOLE)
        self._shared = jax.device_put((tasks, self.targets), everywhere)
        self._auxiliary = np.asarray(auxiliary, np.bool_)
        self._devices = mesh.size
        self._sizes = sorted({-(-size // mesh.size) * mesh.size for size in (SMALL, max(SMALL, most))})
        self._run = spread(_turn)
        self._waiting: list[tuple[_Turn, asyncio.Future]] = []
        self._drawing: asyncio.Task | None = None
        self._thread = ThreadPoolExecutor(1, "simulator")

    def close(self) -> None:
        """Wait for what is being drawn."""
        self._thread.shutdown()

    def resumed(self, row: int, decisions: Sequence[dict] = ()) -> State:
        """Return the state of a task after recorded decisions, from its start where there are none."""
        first = jax.tree.map(lambda leaf: leaf[row], self._firsts)
        count = len(decisions)
        action, ious = np.zeros(HORIZON, np.int32), np.zeros(HORIZON, np.float32)
        action[:count] = [action_index(line["action"], line["angle"]) for line in decisions]
        ious[:count] = [line["iou_after"] for line in decisions]
        pose = np.reshape(decisions[-1]["rotation"], (3, 3)).astype(np.float32) if count else np.array(first.R)
        state = _replayed(first, action, ious, pose, np.int32(count), self.params)
        return jax.tree.map(np.asarray, state)

    async def look(self, row: int, state: State) -> Scene:
        """Return the pictures of a state. Raises ValueError where its IoU is not the one of the pictures."""
        scene = await self._ask(row, state, LOOK)
        expected, got = float(state.iou), float(scene.state.iou)
        same = abs(expected - got) <= IOU_TOLERANCE
        require(same, "run: recorded IoU of an open episode", f"{got:.4f}, as drawn", f"{expected:.4f}")
        return dataclasses.replace(scene, state=state)

    async def move(self, row: int, state: State, action: int) -> Scene:
        """Return the state after an action, an index of ACTIONS, and its pictures."""
        require(0 <= action < len(ACTIONS), "step: action", f"an index from 0 to {STOP}", action)
        return await self._ask(row, state, action)

    async def _ask(self, row: int, state: State, action: int) -> Scene:
        future = asyncio.get_running_loop().create_future()
        turn = _Turn(row=_leaf(row), state=state, action=_leaf(action), real=_leaf(True))
        self._waiting.append((turn, future))
        if self._drawing is None or self._drawing.done():
            self._drawing = asyncio.create_task(self._draw_all())
        return await future

    async def _draw_all(self) -> None:
        """Draw what is waiting, and what comes meanwhile."""
        while self._waiting:
            group, self._waiting = self._waiting[: self._sizes[-1]], self._waiting[self._sizes[-1] :]
            try:
                turns = [turn for turn, _ in group]
                scenes = await asyncio.get_running_loop().run_in_executor(self._thread, self._draw, turns)
            except Exception as error:
                for _, future in group:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), scene in zip(group, scenes, strict=True):
                if not future.done():
                    future.set_result(scene)

    def _draw(self, turns: list[_Turn]) -> list[Scene]:
        count = len(turns)
        size = next(size for size in self._sizes if size >= count)
        # In turn over the devices, each of which has one stretch of the batch.
        each = size // self._devices
        places = [j % self._devices * each + j // self._devices for j in range(count)]
        idle = dataclasses.replace(turns[0], real=_leaf(False))
        filled = [idle] * size
        for place, turn in zip(places, turns, strict=True):
            filled[place] = turn
        batch = jax.tree.map(lambda *leaves: np.stack(leaves), *filled)
        scenes = self._run(batch, *self._shared, self.params, self._auxiliary)
        return [jax.tree.map(lambda leaf, p=p: np.array(leaf[p]), scenes) for p in places]
