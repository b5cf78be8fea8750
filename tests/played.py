"""Runs on the tiny suite, made by hand from its start poses."""

import numpy as np

from rotajax.records import open_run
from rotajax.tasks.suite import load_suite
from runs import episode
from suites import write_tiny_suite

HOSTILE = "<img src=x onerror=alert(1)></script>"


def write_played(folder, policies=("good", HOSTILE), name="run"):
    """Return (run folder, suite folder): the first policy succeeds on two tasks, the other stops; poses are exact."""
    path = folder / "tiny"
    if not path.exists():
        write_tiny_suite(path)
    suite = load_suite(path)
    starts = np.asarray(suite.tasks.start, np.float64)
    lines = []
    for index, task in enumerate(suite.ids[:2]):
        moves = [("YAW_POS", 30), ("PITCH_NEG", 10 if index else 5), ("YAW_POS", 30)]
        ious = [0.4 + 0.01 * index, 0.5, 0.55, 0.95]
        lines += episode(task, 0, starts[index], moves, ious, "success", policy=policies[0])
        stop = [("YAW_POS", 30), ("ROLL_NEG", 1), ("STOP", 0)]
        ious = [0.4 + 0.01 * index, 0.5, 0.3 + 0.1 * index, 0.3 + 0.1 * index]
        lines += episode(task, 0, starts[index], stop, ious, "stop", policy=policies[1])
    identity = {"id": suite.info.id, "version": suite.info.version, "sha256": suite.info.sha256}
    with open_run(folder / name, {"suite": identity}, device="none") as writer:
        writer.append(lines)
    return folder / name, path
