"""How long does the search of a task take, its reference path and the proof of its length, on all cores?"""

from collections.abc import Callable

import numpy as np

from benchmarks.inputs import SEED, Inputs
from benchmarks.machine import usable_cores
from benchmarks.turns import Case, Subject

HERE = f"{__name__}:"


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return one work: a task over every solid, with its reversible start, found and verified exactly."""
    cores = min(2, len(usable_cores()))
    return [
        Case(
            question="search",
            work=f"{inputs.count} tasks over {inputs.name}, goal map included",
            unit="task",
            units=inputs.count,
            subjects=tuple(
                Subject(name, HERE + ours.__name__, {"wide": wide}, cores=cores, devices=cores)
                for name, wide in (("reference: beam and breadth-first", False), ("reference and shortest path", True))
            ),
        )
    ]


def ours(inputs: Inputs, wide: bool) -> Callable[[], np.ndarray]:
    """Return the run over all tasks: the lengths of their reference paths."""
    from rotajax.search.ground import make_ground
    from rotajax.search.reference import find_reference
    from rotajax.tasks.starts import draw_sequence, start_pose
    from rotajax.tasks.task import BONES, Task

    group = np.broadcast_to(np.eye(3, dtype=np.float32), (24, 3, 3))
    starts = [draw_sequence(SEED + i, 0) for i in range(inputs.count)]
    tasks = [Task(solid=inputs.solid(i), start=start_pose(s), group=group) for i, s in enumerate(starts)]

    def run() -> np.ndarray:
        found = (
            find_reference(make_ground(task, columns=BONES), start, wide=wide)
            for task, start in zip(tasks, starts, strict=True)
        )
        return np.array([len(reference.path) for reference in found])

    return run
