"""The reference path of a task (Appendix H) and the shortest path that the wider search finds or proves."""

from dataclasses import dataclass

import numpy as np

from rotajax.checks import require
from rotajax.env.actions import ACTIONS, action_index
from rotajax.search.beam import beam_search
from rotajax.search.bfs import breadth_first
from rotajax.search.ground import Ground, replay
from rotajax.search.shortest import shortest_path
from rotajax.tasks.starts import SUCCESS_IOU, inverse_path

# The threshold in float32, as the environment compares it.
GOAL = float(np.float32(SUCCESS_IOU))
Path = list[tuple[str, int]]


@dataclass(frozen=True)
class Reference:
    """What the searches of a task found; every path here was replayed with the exact renderer from the start pose.

    path: the shorter of beam and breadth-first, or the inverse start, cut where it reaches the goal before its end.
    beam, breadth: their lengths, None where they found nothing shorter than the inverse. breadth_exhausted: no goal
    within so many 30-degree turns; the depth at which the limit cut that search where `breadth` is None. shortest: the
    shortest path known over all 24 rotations; lower_bound: no path is shorter; where its length is the bound it is
    proved shortest.
    """

    path: Path
    iou: float
    beam: int | None
    breadth: int | None
    breadth_exhausted: int
    shortest: Path
    lower_bound: int

    @property
    def proved(self) -> bool:
        """Whether `shortest` is as short as any path can be."""
        return len(self.shortest) == self.lower_bound


def find_reference(ground: Ground, sequence: list[str], *, wide: bool = True) -> Reference:
    """Return the reference of a task from its ground and the turns of its start; `wide` also searches beyond it.

    Raises ValueError where the reversed start, which is a solution by construction, does not replay to the goal.
    """
    inverse = [action_index(*step) for step in inverse_path(sequence)]
    replayed = replay(ground, inverse)
    require(replayed >= GOAL, "reversed start: IoU after its replay", f"at least {SUCCESS_IOU}", replayed)
    beam = beam_search(ground, len(inverse) - 1)
    breadth = breadth_first(ground, (len(inverse) if beam is None else len(beam)) - 1)
    path = min((p for p in (breadth.path, beam) if p is not None), key=len, default=None) or _cut(ground, inverse)
    found = shortest_path(ground, len(path) - 1) if wide else None
    shortest = found.path if found and found.path is not None else path
    return Reference(
        path=_named(path),
        iou=replay(ground, path),
        beam=None if beam is None else len(beam),
        breadth=None if breadth.path is None else len(breadth.path),
        breadth_exhausted=breadth.exhausted,
        shortest=_named(shortest),
        lower_bound=found.lower_bound if found else 1,
    )


def _cut(ground: Ground, path: list[int]) -> list[int]:
    """Return a path up to the first pose that is a goal, where an episode ends."""
    ends = (n for n in range(1, len(path)) if replay(ground, path[:n]) >= GOAL)
    return path[: next(ends, len(path))]


def _named(path: list[int]) -> Path:
    return [(ACTIONS[action].direction, ACTIONS[action].angle) for action in path]
