"""`replays`: chosen episodes with their pictures as data URIs, for the page."""

import base64
import io
from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np
from PIL import Image

from rotajax.analysis.coverage import episode_poses
from rotajax.env.actions import ACTIONS
from rotajax.records import OUTCOMES
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.reports.entries import Entry
from rotajax.types import Array

# Pictures of the page, in bytes of text: with the tables it stays under 10 MB.
BUDGET = 7_000_000


def choose(entries: Sequence[Entry], count: int) -> list[tuple[int, int]]:
    """Return (entry, episode) of the episodes to show: from every method in turn, a success, then a failure, and so on.

    In the order of the run; the same run gives the same choice.
    """
    waiting = []
    for number, entry in enumerate(entries):
        good = entry.method.episodes.outcome == OUTCOMES.index("success")
        rows = [np.flatnonzero(good).tolist(), np.flatnonzero(~good).tolist()]
        waiting.append([(number, row) for row in _alternate(rows)])
    return list(_alternate(waiting))[:count]


def _alternate(lists: Sequence[list]) -> Iterator:
    for position in range(max((len(each) for each in lists), default=0)):
        yield from (each[position] for each in lists if position < len(each))


def replays(
    entries: Sequence[Entry], count: int, *, budget: int = BUDGET, tick: Callable[[], object] = lambda: None
) -> list[dict]:
    """Return up to `count` episodes for the page, each with its frames; fewer where their pictures pass the budget."""
    found, used, targets = [], 0, {}
    draw = jax.jit(lambda solid, pose: (splat(solid, pose), shade(solid, pose)))
    for number, row in choose(entries, count):
        replay = _replay(entries[number], row, draw, targets)
        used += sum(len(frame["view"]) + len(frame["current"]) for frame in replay["frames"])
        if used > budget:
            break
        found.append(replay)
        tick()
    return found


def _replay(entry: Entry, row: int, draw: Callable, targets: dict[str, str]) -> dict:
    method, episodes, suite = entry.method, entry.method.episodes, entry.analysis.suite
    task = method.tasks[episodes.task[row]]
    at = suite.ids.index(task)
    solid = suite[at].solid
    if task not in targets:
        targets[task] = data_uri(draw(solid, np.eye(3, dtype=np.float32))[0])
    steps = slice(int(episodes.first[row]), int(episodes.first[row] + episodes.steps[row]))
    iou = [*method.steps.iou_before[steps].tolist(), float(episodes.final_iou[row])]
    error = [*method.steps.pose_error_before[steps].tolist(), float(episodes.final_pose_error[row])]
    actions = [f"{ACTIONS[a].direction} {ACTIONS[a].angle}°" for a in method.steps.action[steps].tolist()]
    outcome = OUTCOMES[episodes.outcome[row]]
    frames = []
    for t, pose in enumerate(episode_poses(method, row, np.asarray(suite[at].start))):
        silhouette, view = draw(solid, pose.astype(np.float32))
        action = actions[t] if t < len(actions) else "STOP" if outcome == "stop" else None
        pictures = {"view": data_uri(view), "current": data_uri(silhouette)}
        frames.append({"iou": iou[t], "error": error[t], "action": action} | pictures)
    key = {"policy": method.name, "task": task, "seed": int(episodes.seed[row]), "outcome": outcome}
    return key | {"target": targets[task], "frames": frames}


def data_uri(picture: Array) -> str:
    """Return a mask or a grey picture as a PNG in text."""
    out = io.BytesIO()
    Image.fromarray(np.asarray(picture)).save(out, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
