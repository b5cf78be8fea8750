"""What does a decision of a model cost this host, beyond the endpoint's time and the drawing of pictures?"""

import asyncio
import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.machine import ROOT, usable_cores
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
IN_FLIGHT, TURNS = 64, 48
# Different pictures; a stamp in a corner makes each turn's panel another one.
DRAWN = 16
CORES = min(2, os.cpu_count() or 1)
LOOP = "panels, prompt, request, answer, records"


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return four works: whole episodes, the last decision of a full history, a panel, the drawing that is apart."""
    episodes, asked = (4, 8) if quick else (IN_FLIGHT, 4 * IN_FLIGHT)
    answered = f"{IN_FLIGHT} in flight, an endpoint that answers at once"
    return [
        Case(
            question="solver overhead",
            work=f"{episodes} episodes of {TURNS} decisions, {answered}",
            unit="decision",
            units=episodes * TURNS,
            subjects=(Subject(LOOP, HERE + loop.__name__, {"episodes": episodes}, cores=CORES),),
            parity=_complete,
        ),
        Case(
            question="solver overhead",
            work=f"{asked} decisions after {TURNS - 1} turns, {answered}",
            unit="decision",
            units=asked,
            subjects=(Subject("prompt, request, answer", HERE + late.__name__, {"decisions": asked}),),
            parity=_complete,
        ),
        Case(
            question="solver overhead",
            work="a panel of 972 x 320 as RGB PNG, a part of the first work",
            unit="panel",
            units=IN_FLIGHT,
            subjects=(Subject("make_panel", HERE + encoding.__name__, {"panels": IN_FLIGHT}),),
        ),
        Case(
            question="solver overhead",
            work=f"drawing the silhouettes and views of {IN_FLIGHT} turns, full solids",
            unit="decision",
            units=IN_FLIGHT,
            subjects=(Subject("the simulator of the loop", HERE + drawing.__name__, {"turns": IN_FLIGHT}),),
        ),
    ]


def loop(inputs: Inputs, episodes: int) -> Callable[[], np.ndarray]:
    """Return the run of whole episodes, each answer and decision on the disk before the next; the decisions kept."""
    from rotajax.records import EpisodeKey
    from rotajax.solvers.api import api_solver
    from rotajax.solvers.episode import Table, play_episode
    from rotajax.solvers.question import CONDITIONS
    from rotajax.solvers.store import Store

    base, game = _endpoint(), _Game(inputs, episodes)
    asked = {"kind": "solver", "suite": {"id": "bench", "version": 1, "sha256": "0" * 64}, "policies": ["m"]}

    async def play(store: Store, threads: ThreadPoolExecutor) -> None:
        solver = api_solver(_client(base))
        table = Table(solver, CONDITIONS["full"], game, store, threads, "0" * 64)  # type: ignore[arg-type]
        try:
            await asyncio.gather(*(play_episode(table, i, EpisodeKey(f"task{i:05d}", "m", 0)) for i in range(episodes)))
        finally:
            await solver.aclose()  # type: ignore[attr-defined]

    def run() -> np.ndarray:
        folder = Path(tempfile.mkdtemp(dir=inputs.folder))  # goes with the inputs: removing it is no decision's cost
        with Store(folder, asked, device="cpu") as store, ThreadPoolExecutor(2) as threads:
            asyncio.run(play(store, threads))
        return np.array([(folder / "episodes.jsonl").read_bytes().count(b'"kind":"decision"'), episodes * TURNS])

    return run


def late(inputs: Inputs, decisions: int) -> Callable[[], np.ndarray]:
    """Return the run of decisions whose history is full, from a question to its reply; the legal replies."""
    from rotajax.solvers.api import api_solver
    from rotajax.solvers.picture import make_panel
    from rotajax.solvers.question import Journal, Question, Turn

    base, game = _endpoint(), _Game(inputs, IN_FLIGHT)

    def question(row: int) -> Question:
        seen = [game.pictures(row, t) for t in range(TURNS)]
        panels = [make_panel(game.targets[row], view, current) for view, current in seen]
        past = tuple(Turn(panel, "YAW_POS", 30, "A cot of some forty tokens. " * 6) for panel in panels[:-1])
        view, current = seen[-1]
        return Question(str(row), TURNS - 1, 0, game.targets[row], view, current, panels[-1], past)

    questions = [question(row) for row in range(IN_FLIGHT)]

    async def play() -> list:
        solver = api_solver(_client(base))
        try:
            fresh = [dataclasses.replace(questions[i % IN_FLIGHT], journal=Journal()) for i in range(decisions)]
            return await asyncio.gather(*map(solver, fresh))
        finally:
            await solver.aclose()  # type: ignore[attr-defined]

    return lambda: np.array([sum(reply.action is not None for reply in asyncio.run(play())), decisions])


def encoding(inputs: Inputs, panels: int) -> Callable[[], np.ndarray]:
    """Return the run of the encoding of panels; their sizes in bytes."""
    from rotajax.solvers.picture import make_panel

    game = _Game(inputs, 1)
    seen = [game.pictures(0, turn) for turn in range(panels)]
    return lambda: np.array([len(make_panel(game.targets[0], view, current).png) for view, current in seen])


def drawing(inputs: Inputs, turns: int) -> Callable[[], np.ndarray]:
    """Return the run of one turn of every episode on the simulator; the pixels of the silhouettes."""
    from rotajax.env.state import Params
    from rotajax.solvers.simulate import Simulator

    simulator = Simulator(_suite(inputs, turns), Params(), rows=range(turns), most=turns, auxiliary=True)

    async def play() -> list:
        return await asyncio.gather(*(simulator.move(row, simulator.resumed(row), row % 24) for row in range(turns)))

    return lambda: np.array([int(scene.current.sum()) for scene in asyncio.run(play())])


class _Game:
    """Stands in for the simulator: pictures that were drawn before, episodes that end after 48 decisions."""

    def __init__(self, inputs: Inputs, episodes: int):
        import jax

        from rotajax.env.state import Params
        from rotajax.env.step import reset
        from rotajax.render.shade import shade
        from rotajax.render.splat import splat

        self.params = Params()
        first, _ = jax.jit(reset)(_suite(inputs, 1).tasks[0], self.params)
        self._first = jax.tree.map(np.asarray, dataclasses.replace(first, task=None, target=None))
        self.targets = np.broadcast_to(np.asarray(first.target), (episodes, 320, 320))
        draw = jax.jit(lambda solid, R: (shade(solid, R), splat(solid, R)))
        self._drawn = [jax.tree.map(np.asarray, draw(inputs.solid(0), R)) for R in inputs.poses(DRAWN)]

    def pictures(self, row: int, turn: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the view and the silhouette of a turn."""
        view, current = self._drawn[(row + turn) % DRAWN]
        view = view.copy()
        view[0, :2] = row, turn
        return view, current

    def resumed(self, row: int, decisions: list) -> object:
        return self._first

    async def look(self, row: int, state):
        from rotajax.solvers.simulate import Scene

        view, current = self.pictures(row, int(state.decisions))
        return Scene(state=state, pose_error=np.float32(9.0), current=current, view=view)

    async def move(self, row: int, state, action: int):
        from rotajax.env.state import LIMIT, RUNNING

        after = int(state.decisions) + 1
        outcome = np.int32(LIMIT if after == TURNS else RUNNING)
        moved = dataclasses.replace(state, decisions=np.int32(after), steps=np.int32(after), outcome=outcome)
        return await self.look(row, moved)


def _suite(inputs: Inputs, count: int):
    import jax

    from rotajax.tasks.suite import Suite, SuiteInfo
    from rotajax.tasks.task import Task

    solids = [inputs.solid(i % inputs.count) for i in range(count)]
    solid = jax.tree.map(lambda *leaves: np.stack(leaves), *solids)
    starts = inputs.poses(count + 1)[1:]
    group = np.broadcast_to(np.eye(3, dtype=np.float32), (count, 24, 3, 3))
    rows = tuple({"id": f"task{i:05d}"} for i in range(count))
    info = SuiteInfo(id="bench", version=1, sha256="0" * 64, rows=rows)
    return Suite(tasks=Task(solid=solid, start=starts, group=group), info=info)


def _client(base: str):
    from rotajax.solvers.client import ChatClient
    from rotajax.solvers.settings import Settings

    return ChatClient(base, "instant", None, Settings(concurrency=IN_FLIGHT))


def _endpoint() -> str:
    """Start the endpoint, on another core than this process has where there is one, and return its address."""
    others = sorted(set(range(os.cpu_count() or 1)) - set(usable_cores())) or usable_cores()
    command = [sys.executable, "-m", "benchmarks.endpoint", str(others[0])]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    _served.append(process)
    assert process.stdout is not None
    return f"http://127.0.0.1:{int(process.stdout.readline())}/v1"


# Kept: the endpoint ends with its standard input, which ends with this process.
_served: list[subprocess.Popen] = []


def _complete(results: Results) -> None:
    for name, result in results.items():
        got, expected = result["result"]
        if got != expected:
            raise ParityError(f"solver overhead: {name}: expected {expected} decisions, got {got}")
