"""Run files made by hand for tests."""

import json

import numpy as np

from reference import rotation
from rotajax.records import open_run

ASKED = {"kind": "test", "suite": {"id": "hand", "version": 1, "sha256": "0" * 64}, "seeds": [0, 1]}


def decisions(task, seed, start, moves, ious, policy="p"):
    """The decision lines of an episode from a pose, and the pose errors along it (no symmetry)."""
    pose, lines = np.array(start), []
    errors = [rotation.pose_error_deg(pose, np.eye(3)[None])]
    for t, (direction, angle) in enumerate(moves):
        before = pose
        if direction != "STOP":
            pose = rotation.matrix(direction, angle) @ pose
        errors.append(rotation.pose_error_deg(pose, np.eye(3)[None]))
        line = {"kind": "decision", "task": task, "policy": policy, "seed": seed, "t": t, "action": direction}
        values = {"iou_before": ious[t], "iou_after": ious[t + 1]}
        values |= {"pose_error_before": errors[t], "pose_error_after": errors[t + 1]}
        lines.append(line | {"angle": angle} | values | {"rotation": before.ravel().tolist()})
    return lines, errors


def episode(task, seed, start, moves, ious, outcome, policy="p"):
    """All lines of an episode."""
    lines, errors = decisions(task, seed, start, moves, ious, policy)
    key = {"kind": "episode", "task": task, "policy": policy, "seed": seed, "outcome": outcome}
    steps = sum(direction != "STOP" for direction, _ in moves)
    return [*lines, key | {"steps": steps, "final_iou": ious[-1], "final_pose_error": errors[-1]}]


def three_episodes():
    """Two runs of task a, one of task b; every figure is derived by hand in tests/analysis/test_summary.py."""
    yaw, pitch = rotation.matrix("YAW_POS", 12), rotation.matrix("PITCH_POS", 20)
    back = [("YAW_NEG", 30), ("YAW_NEG", 5), ("STOP", 0)]
    return [
        *episode("a", 0, yaw, [("YAW_NEG", 10)], [0.5, 0.95], "success"),
        *episode("a", 1, yaw, back, [0.5, 0.4, 0.3, 0.3], "stop"),
        *episode("b", 0, pitch, [("PITCH_NEG", 30), ("PITCH_POS", 1)], [0.6, 0.7, 0.8], "limit"),
    ]


def write_run(path, lines=None):
    """A run folder with the lines, by the writer."""
    with open_run(path, ASKED, device="none") as writer:
        writer.append(three_episodes() if lines is None else lines)
    return path


def raw(lines):
    """Lines as bytes, for damage."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
