"""`Method`: what one policy of a run played, as typed columns of episodes and of executed rotations."""

import dataclasses

import numpy as np

from rotajax.analysis.decomposition import decompose
from rotajax.env.actions import ROTATIONS
from rotajax.geometry.rotation import ANGLES
from rotajax.records import EpisodeColumns, Run


@dataclasses.dataclass(frozen=True)
class Steps:
    """The executed rotations of a method, N rows; those of an episode are together and in order. STOP is not here."""

    episode: np.ndarray  # int32 [N], row of the method's episodes
    task: np.ndarray  # int32 [N], index of the method's tasks
    t: np.ndarray  # int32 [N], rotations executed before it
    action: np.ndarray  # int32 [N], index of ACTIONS, [0, 24)
    angle: np.ndarray  # int32 [N], degrees: 1, 5, 10 or 30
    rotation: np.ndarray  # float32 [N, 3, 3], the pose before
    iou_before: np.ndarray  # float64 [N], [0, 1]
    iou_after: np.ndarray  # float64 [N]
    pose_error_before: np.ndarray  # float64 [N], degrees, as recorded (float32)
    pose_error_after: np.ndarray  # float64 [N], as recorded
    error_before: np.ndarray  # float64 [N], degrees, recomputed from the pose
    error_after: np.ndarray  # float64 [N], recomputed
    effective: np.ndarray  # bool [N], a legal angle of the chosen direction reduces the pose error
    best_legal: np.ndarray  # bool [N], the chosen angle is a best one; False where the direction is not effective
    angle_gap: np.ndarray  # float64 [N], degrees; NaN where the direction is not effective
    angle_loss: np.ndarray  # float64 [N], degrees; NaN where the direction is not effective
    improving: np.ndarray  # bool [N], the rotation reduced the pose error

    def __len__(self) -> int:
        return len(self.t)


@dataclasses.dataclass(frozen=True)
class Method:
    """Episodes and rotations of one policy of a run; what tables, figures and comparisons are made of."""

    name: str  # the policy
    run: str  # the folder, for messages
    suite: dict  # id, version and sha256 of the suite
    tasks: tuple[str, ...]  # the T tasks that it played
    groups: np.ndarray  # float32 [T, G, 3, 3], the symmetries of each task
    episodes: EpisodeColumns  # E rows; `task` indexes `tasks`, `first` is the row of its first rotation in `steps`
    steps: Steps

    def per_task(self, values: np.ndarray, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum of a column of steps and the number of its rows by task, float64 [T] each.

        `among`: bool [N], the rows that count. Their quotient over all tasks is the pooled mean of Appendix K.3.
        """
        task, values = (self.steps.task, values) if among is None else (self.steps.task[among], values[among])
        sums = np.bincount(task, weights=values.astype(np.float64), minlength=len(self.tasks))
        return sums, np.bincount(task, minlength=len(self.tasks)).astype(np.float64)

    def mean_of_tasks(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of a column of episodes by task, and ones: tasks weigh the same, float64 [T] each."""
        task, size = self.episodes.task, len(self.tasks)
        sums = np.bincount(task, weights=values.astype(np.float64), minlength=size)
        return sums / np.bincount(task, minlength=size), np.ones(size)


def make_method(run: Run, policy: int, groups: np.ndarray, suite: dict) -> Method:
    """Return what policy number `policy` of a run played. groups: [all tasks of the run, G, 3, 3]."""
    rows = np.flatnonzero(run.episodes.policy == policy)
    played, task = np.unique(run.episodes.task[rows], return_inverse=True)
    steps = run.episodes.steps[rows]
    columns = {name.name: getattr(run.episodes, name.name)[rows] for name in dataclasses.fields(EpisodeColumns)}
    columns |= {"task": task.astype(np.int32), "first": np.cumsum(steps, dtype=np.int64) - steps}
    return Method(
        name=run.policies[policy],
        run=str(run.path),
        suite=suite,
        tasks=tuple(run.tasks[index] for index in played),
        groups=groups[played],
        episodes=EpisodeColumns(**columns),
        steps=_steps(run, rows, task, groups[played]),
    )


def _steps(run: Run, rows: np.ndarray, task: np.ndarray, groups: np.ndarray) -> Steps:
    """Return the rotations of the episodes in `rows`, whose tasks are `task`."""
    row_of = np.full(len(run.episodes), -1, np.int32)
    row_of[rows] = np.arange(len(rows))
    decisions = run.decisions
    taken = np.flatnonzero((row_of[decisions.episode] >= 0) & (decisions.action < ROTATIONS))
    episode = row_of[decisions.episode[taken]]
    of_task, action, rotation = task[episode].astype(np.int32), decisions.action[taken], decisions.rotation[taken]
    split = decompose(rotation, action, of_task, groups)
    recorded = ("iou_before", "iou_after", "pose_error_before", "pose_error_after")
    return Steps(
        episode=episode,
        task=of_task,
        t=decisions.t[taken],
        action=action,
        angle=np.array(ANGLES, np.int32)[action % len(ANGLES)],
        rotation=rotation,
        **{name: getattr(decisions, name)[taken].astype(np.float64) for name in recorded},
        **{field.name: getattr(split, field.name) for field in dataclasses.fields(split)},
    )
