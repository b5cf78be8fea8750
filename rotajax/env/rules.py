"""How an episode ends: success, STOP, the decision limit, stagnation (section 3.3, Table 19)."""

import dataclasses

import jax.numpy as jnp

from rotajax.env.actions import STOP
from rotajax.env.state import LIMIT, RUNNING, STAGNATION, STOPPED, SUCCESS, Params, State
from rotajax.types import Array, Float32, Int32, Rotation


def judge(state: State, action: Int32[Array, ""], R: Rotation, iou: Float32[Array, ""], params: Params) -> State:
    """Return the state after an action that led to a pose and an IoU.

    Where several endings hold at once the first of success, STOP, limit, stagnation is taken. A rotation is a new best
    only if its IoU is strictly greater than every one before it, the start's included.
    """
    rotated = action != STOP
    steps = state.steps + rotated.astype(jnp.int32)
    decisions = state.decisions + jnp.int32(1)
    better = iou > state.best_iou
    stale = jnp.where(better, jnp.int32(0), state.stale + rotated.astype(jnp.int32))
    endings = (
        (iou >= params.success_iou, SUCCESS),
        (~rotated, STOPPED),
        (decisions >= params.max_decisions, LIMIT),
        (stale >= params.patience, STAGNATION),
    )
    outcome = jnp.int32(RUNNING)
    for holds, code in reversed(endings):
        outcome = jnp.where(holds, jnp.int32(code), outcome)
    return dataclasses.replace(
        state,
        R=R,
        iou=iou,
        previous_iou=state.iou,
        best_iou=jnp.maximum(iou, state.best_iou),
        stale=stale,
        last_action=action,
        decisions=decisions,
        steps=steps,
        outcome=outcome,
    )
