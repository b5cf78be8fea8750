"""`read_run`: a run folder as typed columns."""

import dataclasses
from pathlib import Path

import numpy as np

from rotajax.checks import require
from rotajax.records.lines import DECISION_NUMBERS, parse
from rotajax.records.meta import META, read_meta


@dataclasses.dataclass(frozen=True)
class DecisionColumns:
    """All decisions of a run, N rows; those of one episode are together and in order."""

    episode: np.ndarray  # int32 [N], row of EpisodeColumns
    t: np.ndarray  # int32 [N], 0 for the first decision of an episode
    action: np.ndarray  # int32 [N], index of ACTIONS
    iou_before: np.ndarray  # float32 [N]
    iou_after: np.ndarray  # float32 [N]
    pose_error_before: np.ndarray  # float32 [N], degrees
    pose_error_after: np.ndarray  # float32 [N], degrees
    rotation: np.ndarray  # float32 [N, 3, 3], the pose before the decision

    def __len__(self) -> int:
        return len(self.t)


@dataclasses.dataclass(frozen=True)
class EpisodeColumns:
    """All finished episodes of a run, E rows, in the order in which they ended."""

    task: np.ndarray  # int32 [E], index of Run.tasks
    policy: np.ndarray  # int32 [E], index of Run.policies
    seed: np.ndarray  # int64 [E]
    outcome: np.ndarray  # int32 [E], index of OUTCOMES
    steps: np.ndarray  # int32 [E], executed rotations
    decisions: np.ndarray  # int32 [E], rotations and STOP
    first: np.ndarray  # int64 [E], row of the first decision
    final_iou: np.ndarray  # float32 [E]
    final_pose_error: np.ndarray  # float32 [E], degrees

    def __len__(self) -> int:
        return len(self.task)


@dataclasses.dataclass(frozen=True)
class Run:
    """A run as columns."""

    path: Path
    meta: dict  # run.json
    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    episodes: EpisodeColumns
    decisions: DecisionColumns
    notes: tuple[str, ...]  # what was left out while reading, in words


def read_run(path: str | Path) -> Run:
    """Return a run folder as columns; decisions of episodes that never ended, and a torn last line, are left out.

    Raises ValueError with the line's number for a damaged or duplicate line, and for decisions that are not
    consecutive or not as many as the episode says.
    """
    path = Path(path)
    require(path.is_dir(), "run", "a run folder", f"a file: '{path}'" if path.exists() else f"nothing at '{path}'")
    require((path / META).is_file(), f"run '{path}'", "a file run.json in it", "none")
    file = path / "episodes.jsonl"
    meta, parsed = read_meta(path), parse(file)
    tasks = tuple(dict.fromkeys(key.task for key in parsed.ended))
    policies = tuple(dict.fromkeys(key.policy for key in parsed.ended))
    task_index, policy_index = ({name: i for i, name in enumerate(names)} for names in (tasks, policies))
    rows = list(parsed.ended.values())
    counts = np.array([len(parsed.decisions.get(key, ())) for key in parsed.ended], np.int32)
    finals = np.array([row[2:] for row in rows], np.float32).reshape(-1, 2)
    episodes = EpisodeColumns(
        task=np.array([task_index[key.task] for key in parsed.ended], np.int32),
        policy=np.array([policy_index[key.policy] for key in parsed.ended], np.int32),
        seed=np.array([key.seed for key in parsed.ended], np.int64),
        outcome=np.array([row[0] for row in rows], np.int32),
        steps=np.array([row[1] for row in rows], np.int32),
        decisions=counts,
        first=np.cumsum(counts, dtype=np.int64) - counts,
        final_iou=finals[:, 0],
        final_pose_error=finals[:, 1],
    )
    chosen = [row for key in parsed.ended for row in parsed.decisions.get(key, ())]
    values = np.array([row[1] for row in chosen], np.float32).reshape(-1, 13)
    numbers = {name: values[:, i] for i, name in enumerate(DECISION_NUMBERS)}
    decisions = DecisionColumns(
        episode=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        t=(np.arange(len(chosen)) - np.repeat(episodes.first, counts)).astype(np.int32),
        action=np.array([row[0] for row in chosen], np.int32),
        rotation=values[:, 4:].reshape(-1, 3, 3),
        **numbers,
    )
    notes = list(parsed.notes)
    if unfinished := parsed.decisions.keys() - parsed.ended.keys():
        notes.append(f"run '{path}': {len(unfinished)} unfinished episodes were left out")
    return Run(path, meta, tasks, policies, episodes, decisions, tuple(notes))
