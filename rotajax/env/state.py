"""What an episode carries from one decision to the next, and the numbers of its rules."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from rotajax.tasks.starts import SUCCESS_IOU
from rotajax.tasks.task import Task
from rotajax.types import Array, Bool, Float32, Int32, Mask, Rotation, struct

OUTCOMES = ("running", "success", "stop", "limit", "stagnation")
RUNNING, SUCCESS, STOPPED, LIMIT, STAGNATION = range(5)


@struct
class Params:
    """The rules' numbers, as leaves: changing one does not compile anew (section 3.3 and Table 19)."""

    success_iou: Float32[Array, ""] = np.float32(SUCCESS_IOU)  # type: ignore[assignment]
    max_decisions: Int32[Array, ""] = np.int32(48)  # type: ignore[assignment]
    patience: Int32[Array, ""] = np.int32(12)  # type: ignore[assignment]


@struct
class State:
    """An episode between two decisions."""

    task: Task
    target: Mask
    R: Rotation
    iou: Float32[Array, ""]
    previous_iou: Float32[Array, ""]  # before the last decision
    best_iou: Float32[Array, ""]  # the start counts as the first best
    stale: Int32[Array, ""]  # rotations in a row without a new best IoU
    last_action: Int32[Array, ""]  # -1 before the first decision
    decisions: Int32[Array, ""]
    steps: Int32[Array, ""]  # rotations executed: decisions other than STOP
    outcome: Int32[Array, ""]  # an index of OUTCOMES

    @property
    def terminated(self) -> Bool[Array, ""]:
        """Whether the rules of the task ended the episode."""
        return (self.outcome != RUNNING) & (self.outcome != LIMIT)

    @property
    def truncated(self) -> Bool[Array, ""]:
        """Whether the limit of decisions cut the episode."""
        return jnp.asarray(self.outcome == LIMIT)


def first_state(
    task: Task | None, target: Mask | None, R: Rotation, iou: Float32[Array, ""], outcome: Int32[Array, ""]
) -> State:
    """Return the state before the first decision, in a pose of a known IoU; `outcome` is an index of OUTCOMES."""
    zero = jnp.int32(0)
    return State(
        task=task,  # type: ignore[arg-type]
        target=target,  # type: ignore[arg-type]
        R=R,
        iou=iou,
        previous_iou=iou,
        best_iou=iou,
        stale=zero,
        last_action=jnp.int32(-1),
        decisions=zero,
        steps=zero,
        outcome=outcome,
    )


def light(state: State) -> State:
    """Return a state without its task and its target, which never change: not to be copied from step to step."""
    return dataclasses.replace(state, task=None, target=None)  # type: ignore[arg-type]
