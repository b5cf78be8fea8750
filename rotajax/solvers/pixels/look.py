"""`look`: one decision from the pictures of a turn and what an episode has taught so far."""

import dataclasses
import hashlib
import time

import numpy as np

from rotajax.compare import iou
from rotajax.env.actions import ACTIONS, action_index
from rotajax.geometry.rotation import MATRICES
from rotajax.geometry.solid import RADIUS
from rotajax.render.camera import CENTRE, SCALE
from rotajax.render.skeleton import Skeleton, skeleton
from rotajax.solvers.pixels.plan import MARGIN, Belief, find_plan, holds, make_belief
from rotajax.solvers.pixels.pose import Estimate, check_pictures, estimate_from, look_up, packed, track
from rotajax.solvers.pixels.rebuild import rebuild
from rotajax.solvers.question import Question
from rotajax.solvers.reply import Reply
from rotajax.tasks.task import BONES

# An expectation that explains a look worse than this, and so many times worse than the look before, is lost.
LOST, WORSE = 0.05, 2.0
# A plan that ended short of the goal makes the next one aim higher by so much.
HIGHER = 0.005


@dataclasses.dataclass(frozen=True)
class Memory:
    """What is kept of an episode between two looks; about 2 MB."""

    target: str  # hash of the target picture
    bones: Skeleton
    belief: Belief
    estimate: Estimate
    turn: int
    action: int
    rest: tuple[int, ...]  # of the plan
    margin: float


def look(question: Question, memory: Memory | None) -> tuple[Reply, Memory]:
    """Return the decision of a turn and the memory for the next; without a memory that fits, all comes from the
    pictures. Raises ValueError for pictures of another size or kind and for a target without a solid.
    """
    began = time.perf_counter()
    check_pictures(question.view, question.current)
    digest = hashlib.sha256(np.packbits(question.target).tobytes()).hexdigest()
    memory = memory if memory and memory.target == digest else None
    memory, margin, rest = _seen(question, memory, digest)
    estimate = memory.estimate
    pose = estimate.poses[0]
    belief = memory.belief.standing(pose, margin)
    plan = rest if holds(belief, list(rest)) else tuple(find_plan(belief))
    memory = dataclasses.replace(
        memory, belief=belief, action=plan[0], rest=plan[1:], margin=margin, turn=question.turn
    )
    fields = {
        "pose_error_deg": round(belief.pose_error_deg(pose), 2),
        "misfit": round(float(estimate.misfits[0]), 4),
        "convincing": estimate.convincing,
        "rivals": len(estimate.poses) - 1,
        "iou": round(float(iou(packed(question.current), packed(question.target))), 4),
        "plan": [list(ACTIONS[action]) for action in plan],
        "plan_iou": round(_end(belief, plan), 4),
        "rendered": estimate.rendered,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return Reply(action=plan[0], text=_words(fields), fields=fields), memory


def _seen(question: Question, memory: Memory | None, digest: str) -> tuple[Memory, float, tuple[int, ...]]:
    """Return the memory with the estimate of this look, the margin to plan with, and what is left of the plan."""
    if memory is not None:
        expected = _expected(question, memory)
        if expected is not None:
            now = track(expected, memory.bones, question.view, question.current)
            if now.misfits[0] <= max(LOST, WORSE * memory.estimate.misfits[0]):
                # The plan's end was to be the goal, and the episode goes on.
                short = not memory.rest
                margin = memory.margin + HIGHER if short else memory.margin
                return dataclasses.replace(memory, estimate=now), margin, memory.rest
        _, table = look_up(memory.bones, question.target, question.current)
        now = estimate_from(table, memory.bones, question.view, question.current)
        return dataclasses.replace(memory, estimate=now), memory.margin, ()
    solid = rebuild(question.target)
    bones = skeleton(solid, size=BONES)
    goals, table = look_up(bones, question.target, question.current)
    goals = goals * _within(question.target)
    fresh = Memory(
        target=digest,
        bones=bones,
        belief=make_belief(solid, bones, packed(question.target), goals),
        estimate=estimate_from(table, bones, question.view, question.current),
        turn=question.turn,
        action=-1,
        rest=(),
        margin=MARGIN,
    )
    return fresh, MARGIN, ()


def _within(target: np.ndarray) -> np.float32:
    """Return the factor of a table's IoUs that counts a target's pixels outside the bounding sphere's circle, where
    the table ends; an upper bound, and 1 for every picture of a solid.
    """
    far = np.hypot(*(np.indices(target.shape) - CENTRE)) > SCALE * RADIUS + 2
    return np.float32(1 - (target & far).sum() / (target | ~far).sum())


def _expected(question: Question, memory: Memory) -> Estimate | None:
    """Return the estimate expected at this turn, or None where the memory is not of the turn before."""
    if memory.turn + 1 != question.turn:
        return None
    action = memory.action
    if question.history:
        action = action_index(question.history[-1].action, question.history[-1].angle)
    return memory.estimate.turned(MATRICES[action]) if action < len(MATRICES) else memory.estimate


def _end(belief: Belief, plan: tuple[int, ...]) -> float:
    pose = np.asarray(belief.task.start)
    for action in plan:
        pose = MATRICES[action] @ pose
    return belief.exact_iou(pose) + belief.margin


def _words(fields: dict) -> str:
    """Return what the solver believes, for people."""
    sure = "" if fields["convincing"] else " (a poor fit)"
    turns = ", ".join(f"{direction} {angle}" for direction, angle in fields["plan"])
    count = len(fields["plan"])
    return (
        f"Pose error about {fields['pose_error_deg']:.0f} degrees{sure}, IoU {fields['iou']:.3f} now; planned "
        f"{count} {'turn' if count == 1 else 'turns'} to IoU {fields['plan_iou']:.3f}: {turns}."
    )
