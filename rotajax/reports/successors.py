"""`successor_files`: the 24-successor tables of a report's methods, a row a rotation, for whoever asks for them."""

import io
from collections.abc import Sequence

import numpy as np

from rotajax.analysis import successor_errors
from rotajax.env.actions import ACTIONS, ROTATIONS
from rotajax.reports.entries import Entry
from rotajax.reports.files import parquet_bytes

_NAMES = [f"{direction}_{angle}" for direction, angle in ACTIONS[:ROTATIONS]]


def successor_files(entries: Sequence[Entry], *, parquet: bool = False) -> dict[str, bytes]:
    """Return the pose error after each of the 24 rotations at every pose in which a rotation was made, as files.

    `successors.npz` holds columns of N rows: policy, task, seed, t, action (index), `pose_error_before` and
    `pose_error_after` [N, 24] in degrees, and the 24 names `actions`; float64, since float32 would decide ties.
    Parquet has a column an action. The same runs give the same bytes.
    """
    parts = [_columns(entry) for entry in entries]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    sink = io.BytesIO()
    np.savez_compressed(sink, actions=np.array(_NAMES), **columns)  # pyright: ignore[reportArgumentType] - columns only
    found = {"successors.npz": sink.getvalue()}
    if parquet:
        after = columns.pop("pose_error_after")
        table = columns | {f"pose_error_{name}": after[:, index] for index, name in enumerate(_NAMES)}
        found["successors.parquet"] = parquet_bytes(table)
    return found


def _columns(entry: Entry) -> dict[str, np.ndarray]:
    method, steps = entry.method, entry.method.steps
    return {
        "policy": np.full(len(steps), method.name),
        "task": np.array(method.tasks)[steps.task],
        "seed": method.episodes.seed[steps.episode],
        "t": steps.t,
        "action": steps.action,
        "pose_error_before": steps.error_before,
        "pose_error_after": successor_errors(steps.rotation, steps.task, method.groups),
    }
