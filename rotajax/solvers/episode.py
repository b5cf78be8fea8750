"""`play_episode`: one episode of a solver, from its start or from the decision at which an earlier run ended."""

import asyncio
import dataclasses
import hashlib
from collections import Counter
from concurrent.futures import Executor

import jax
import numpy as np

from rotajax.checks import require
from rotajax.env.state import RUNNING, State
from rotajax.records import OUTCOMES, EpisodeKey
from rotajax.records.lines import decision_line, episode_line, shortest
from rotajax.solvers.picture import make_panel
from rotajax.solvers.question import Condition, Panel, Question, Turn
from rotajax.solvers.reply import InfrastructureError, Reply, Solver, Stopped
from rotajax.solvers.simulate import Scene, Simulator
from rotajax.solvers.store import Store


@dataclasses.dataclass
class Table:
    """What the episodes of a run share."""

    solver: Solver
    condition: Condition
    simulator: Simulator
    store: Store
    threads: Executor  # pictures are encoded here
    suite_sha256: str
    stopped: str | None = None  # why no further question is asked
    count: Counter = dataclasses.field(default_factory=Counter)  # decisions, malformed, failed, excluded
    outage: int = 0  # failures that were not the solver's since the last decision

    def opaque(self, key: EpisodeKey) -> str:
        """Return a name of an episode that says nothing of it."""
        return hashlib.sha256("/".join([self.suite_sha256, *map(str, key)]).encode()).hexdigest()[:16]


async def play_episode(table: Table, row: int, key: EpisodeKey) -> bool:
    """Play an episode to its end, one decision after the other, and return whether it ended.

    It stays open where the run is stopped and where something other than the solver failed.
    """
    simulator, store = table.simulator, table.store
    recorded = store.unfinished.get(key, [])
    scene = await simulator.look(row, simulator.resumed(row, recorded))
    target = simulator.targets[row]
    past: list[Turn] = [await _recall(table, row, scene.state, line) for line in recorded if table.condition.history]
    while scene.state.outcome == RUNNING:
        if table.stopped:
            return False
        t = int(scene.state.decisions)
        view, current = scene.pictures(table.condition.auxiliary)
        # The first one of an open episode may be there already, torn.
        panel = await _in_thread(table, _kept_panel, store, (target, view, current), t == len(recorded))
        question = Question(
            episode=table.opaque(key),
            turn=t,
            seed=key.seed,
            target=target,
            view=view,
            current=current,
            panel=panel,
            history=tuple(past),
            condition=table.condition,
            max_decisions=int(simulator.params.max_decisions),
            journal=store.journal(key, t),
        )
        try:
            reply = await table.solver(question)
        except Stopped as error:
            table.stopped = table.stopped or str(error)
            return False
        except InfrastructureError as error:
            table.count["excluded"] += 1
            table.outage += 1
            await store.fail(key, t, error)
            return False
        require(isinstance(reply, Reply), "solver: answer", "a Reply", type(reply).__name__)
        table.count["malformed"] += len(reply.fields.get("codes", ()))
        if reply.action is None:
            table.count["failed"] += 1
            await store.add([_told(_ended(key, scene, OUTCOMES.index("error")), reply, panel)])
            return True
        before, scene = scene, await simulator.move(row, scene.state, reply.action)
        await store.add([_told(_decided(key, reply.action, before, scene), reply, panel)])
        table.count["decisions"] += 1
        table.outage = 0
        if table.condition.history:
            past.append(Turn(panel, *reply.named, reply.text))
    await store.add([_ended(key, scene, int(scene.state.outcome))])
    return True


def _decided(key: EpisodeKey, action: int, before: Scene, after: Scene) -> dict:
    seen = [before.state.iou, after.state.iou, before.pose_error, after.pose_error, *before.state.R.reshape(9)]
    numbers = shortest(seen)
    return decision_line(key, int(before.state.decisions), action, tuple(numbers[:2]), tuple(numbers[2:4]), numbers[4:])


def _ended(key: EpisodeKey, scene: Scene, outcome: int) -> dict:
    state = scene.state
    iou, error = shortest([state.iou, scene.pose_error])
    return episode_line(key, outcome, int(state.steps), iou, error, shortest(state.R.reshape(9)))


def _told(line: dict, reply: Reply, panel: Panel) -> dict:
    """Return a line with what is recorded of a reply, which replaces nothing of the game's."""
    own = {**line, "cot": reply.text, "panel": panel.sha256}
    own |= {"failure": reply.failure} if reply.failure else {}
    return own | {name: value for name, value in reply.fields.items() if name not in own}


async def _recall(table: Table, row: int, state: State, line: dict) -> Turn:
    """Return a recorded turn; a panel that was lost is drawn again from its pose."""
    try:
        panel = await _in_thread(table, table.store.get_panel, line["panel"])
    except ValueError:
        pose = np.reshape(line["rotation"], (3, 3)).astype(np.float32)
        there = dataclasses.replace(state, R=pose, iou=np.float32(line["iou_before"]), outcome=np.int32(RUNNING))
        scene = await table.simulator.look(row, jax.tree.map(np.asarray, there))
        pictures = table.simulator.targets[row], *scene.pictures(table.condition.auxiliary)
        panel = await _in_thread(table, _kept_panel, table.store, pictures, True)
    return Turn(panel, line["action"], line["angle"], line["cot"])


def _kept_panel(store: Store, pictures: tuple, anew: bool) -> Panel:
    panel = make_panel(*pictures)
    store.put_panel(panel, anew=anew)
    return panel


async def _in_thread(table: Table, function, *args):
    return await asyncio.get_running_loop().run_in_executor(table.threads, function, *args)
