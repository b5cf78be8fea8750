"""One episode of the game in plain Python, and the four baselines; pictures come from a callback."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import rotation

THRESHOLD = 0.90
DECISIONS = 48
PATIENCE = 12


@dataclass(frozen=True)
class Turn:
    """What a policy is given: the pose, the score, the last rotation with the IoU before it, and the ground truth."""

    pose: np.ndarray
    iou: float
    last_action: int | None
    last_iou: float | None
    iou_of: Callable[[np.ndarray], float]
    pose_error_of: Callable[[np.ndarray], float]
    apply: Callable[[np.ndarray, int], np.ndarray]


Policy = Callable[[Turn, np.random.Generator], int]


@dataclass
class Episode:
    """outcome: success, stop, limit or stagnation. One pose, IoU and pose error before each decision and at the end."""

    outcome: str = ""
    actions: list[int] = field(default_factory=list)
    poses: list[np.ndarray] = field(default_factory=list)
    ious: list[float] = field(default_factory=list)
    pose_errors: list[float] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Executed rotations: STOP is a decision but not a step."""
        return sum(action != rotation.STOP for action in self.actions)


def uniform_random(turn: Turn, rng: np.random.Generator) -> int:
    return int(rng.integers(24))


def random_rollback(turn: Turn, rng: np.random.Generator) -> int:
    """Undo a rotation that lowered the IoU; else draw one."""
    if turn.last_action is not None and turn.iou < turn.last_iou:
        return rotation.inverse(turn.last_action)
    return uniform_random(turn, rng)


def iou_greedy(turn: Turn, rng: np.random.Generator) -> int:
    return int(np.argmax([turn.iou_of(turn.apply(turn.pose, action)) for action in range(24)]))


def pose_greedy(turn: Turn, rng: np.random.Generator) -> int:
    return int(np.argmin([turn.pose_error_of(turn.apply(turn.pose, action)) for action in range(24)]))


def play(
    start: np.ndarray,
    policy: Policy,
    rng: np.random.Generator,
    iou_of: Callable[[np.ndarray], float],
    pose_error_of: Callable[[np.ndarray], float],
    apply: Callable[[np.ndarray, int], np.ndarray] = rotation.apply,
) -> Episode:
    """The episode from the start pose. Where endings coincide the first of success, limit, stagnation counts."""
    episode = Episode()
    pose, last_action, last_iou = start, None, None
    best, without_best = -1.0, 0  # below every IoU: the start becomes the first best
    while True:
        iou = iou_of(pose)
        episode.poses.append(pose)
        episode.ious.append(iou)
        episode.pose_errors.append(pose_error_of(pose))
        best, without_best = (iou, 0) if iou > best else (best, without_best + 1)
        if iou >= THRESHOLD:
            episode.outcome = "success"
        elif len(episode.actions) >= DECISIONS:
            episode.outcome = "limit"
        elif without_best >= PATIENCE:
            episode.outcome = "stagnation"
        if episode.outcome:
            return episode
        action = policy(Turn(pose, iou, last_action, last_iou, iou_of, pose_error_of, apply), rng)
        episode.actions.append(action)
        if action == rotation.STOP:
            episode.poses.append(pose)
            episode.ious.append(iou)
            episode.pose_errors.append(episode.pose_errors[-1])
            episode.outcome = "stop"
            return episode
        pose, last_action, last_iou = apply(pose, action), action, iou
