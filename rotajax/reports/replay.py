"""`replays`: what the page draws episodes from: actions and numbers of each, and the solid of each task."""

import base64
import json
import zlib
from collections.abc import Sequence

import numpy as np

from rotajax.analysis.fields import decision_field, episode_field
from rotajax.env.actions import ACTIONS, STOP
from rotajax.geometry.rotation import MATRICES
from rotajax.records import Run
from rotajax.records.lines import shortest
from rotajax.reports.entries import Entry
from rotajax.tasks.folder import read_mask
from rotajax.tasks.starts import start_pose

# Of the replies' text, as it stands in the page: with tables and numbers it stays under 10 MB.
TEXTS = 6_000_000


def replays(entries: Sequence[Entry], count: int, *, texts: int = TEXTS) -> dict | None:
    """Return the replays of up to `count` episodes of every method, its first ones; None where that is none.

    `actions`: the names of the 25 actions, and `turns` their rotations; `tasks`: mask (bits row by row), circle, seed
    and start of every task; `episodes`: of every episode of the methods, in turn, its actions, the IoU and the pose
    error of every frame and, where a solver gave them, its replies; null for one that is left out. `note` says what
    was left out. Replies are kept until they fill `texts` bytes.
    """
    said: dict[str, tuple[list, list]] = {}
    found, tasks, silent = [], {}, 0
    for entry in entries:
        run, path = entry.analysis.run, str(entry.analysis.run.path)
        if path not in said:
            said[path] = decision_field(run, "cot"), episode_field(run, "cot")
        rows = np.flatnonzero(run.episodes.policy == run.policies.index(entry.policy))
        for row in rows[:count].tolist():
            replay = _numbers(run, row)
            if replies := _replies(run, row, *said[path]):
                packed = _pack(json.dumps(replies).encode())
                texts -= len(packed)
                silent += texts < 0
                replay |= {"replies": packed} if texts >= 0 else {}
            found.append(replay)
            task = run.tasks[run.episodes.task[row]]
            if task not in tasks:
                tasks[task] = _solid(entry, task)
        found += [None] * (len(rows) - count)
    if not tasks:
        return None
    left = sum(replay is None for replay in found)
    notes = [f"Of {left} episodes there is no replay here (--replays)."] if left else []
    notes += [f"The replies of {silent} episodes were left out: the page would be too large."] if silent else []
    turns = shortest(np.concatenate([MATRICES, np.eye(3, dtype=np.float32)[None]]).reshape(-1, 9))
    actions = [f"{direction} {angle}°" if angle else direction for direction, angle in ACTIONS]
    return {"actions": actions, "turns": turns, "tasks": tasks, "episodes": found, "note": " ".join(notes)}


def _numbers(run: Run, row: int) -> dict:
    """Return actions and numbers of an episode: a frame for every decision, and for the end where that is no STOP."""
    episodes, decisions = run.episodes, run.decisions
    steps = slice(int(episodes.first[row]), int(episodes.first[row] + episodes.decisions[row]))
    actions = decisions.action[steps].tolist()
    ends = actions[-1:] != [STOP]
    iou = [*decisions.iou_before[steps].tolist(), *[float(episodes.final_iou[row])] * ends]
    error = [*decisions.pose_error_before[steps].tolist(), *[float(episodes.final_pose_error[row])] * ends]
    return {"actions": actions, "iou": [round(v, 6) for v in iou], "error": [round(v, 4) for v in error]}


def _replies(run: Run, row: int, decided: list, ended: list) -> list[str]:
    """Return the text of every decision of an episode, and of its end where a solver failed; nothing if all are empty.

    A run file may be anybody's: whatever is no text counts as none.
    """
    first = int(run.episodes.first[row])
    texts = [*decided[first : first + int(run.episodes.decisions[row])], ended[row]]
    texts = [text if isinstance(text, str) else "" for text in texts]
    return texts if any(texts) else []


def _solid(entry: Entry, task: str) -> dict:
    analysis = entry.analysis
    row = analysis.suite.info.rows[analysis.suite.ids.index(task)]
    mask = read_mask(analysis.source, row)  # type: ignore[arg-type]
    start = shortest(start_pose(row["start"]).reshape(9))
    return {"mask": _pack(np.packbits(mask).tobytes()), "circle": row["circle"], "seed": row["seed"], "start": start}


def _pack(data: bytes) -> str:
    """Return bytes compressed, as text; the page's script has the inverse."""
    return base64.b64encode(zlib.compress(data, 9)).decode()
