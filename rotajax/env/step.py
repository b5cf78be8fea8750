"""`reset`, `step` and `moved`: the game as pure functions of a state (Equation 2)."""

import jax
import jax.numpy as jnp
import numpy as np

from rotajax.checks import require
from rotajax.compare import iou
from rotajax.env.actions import ROTATIONS, STOP
from rotajax.env.observe import Observation, Renderer, exact_renderer, observe
from rotajax.env.rules import judge
from rotajax.env.state import RUNNING, SUCCESS, Params, State, first_state
from rotajax.geometry.rotation import MATRICES, compose
from rotajax.tasks.task import Task
from rotajax.types import Array, Float32, Int32, Rotation, struct


@struct
class Move:
    """A decision of a policy that may have drawn where it leads."""

    action: Int32[Array, ""]
    iou: Float32[Array, ""]  # exact, of the silhouette after the action; NaN where that has not been drawn


def as_move(decision: Int32[Array, ""] | int | float | Move) -> Move:
    """Return what a policy decided as a move; of an index alone no IoU is known.

    Raises ValueError for an index outside [0, 24] that is known outside jit, and for a kind that is no integer.
    """
    action, found = (decision.action, decision.iou) if isinstance(decision, Move) else (decision, jnp.nan)
    if isinstance(action, int | np.integer):  # known here, and not under jit
        require(0 <= int(action) <= STOP, "step: action", f"an index from 0 to {STOP}", action)
    kind = jnp.result_type(action)
    require(jnp.issubdtype(kind, jnp.integer), "step: action", "a whole number", kind)
    return Move(action=jnp.asarray(action, jnp.int32), iou=jnp.asarray(found, jnp.float32))


def reset(task: Task, params: Params, *, renderer: Renderer | None = None) -> tuple[State, Observation]:
    """Return the first state of a task and its observation.

    Silhouettes are the exact renderer's unless another is given, and drawn sooner of a task that carries its skeleton
    (`with_skeletons`). A start that is aligned already, which suites do not contain, is a success without a step.
    """
    renderer = renderer or exact_renderer(task)
    target = renderer(task.solid, jnp.eye(3, dtype=jnp.float32))
    R = jnp.asarray(task.start)
    current = renderer(task.solid, R)
    start_iou = iou(current, target)
    aligned = start_iou >= params.success_iou
    state = first_state(task, target, R, start_iou, jnp.where(aligned, jnp.int32(SUCCESS), jnp.int32(RUNNING)))
    return state, observe(state, current)


def turned(R: Rotation, action: Int32[Array, ""]) -> Rotation:
    """Return the pose after an action: Q(a) R; STOP leaves it as it is."""
    turn = jnp.asarray(MATRICES)[jnp.minimum(action, jnp.int32(ROTATIONS - 1))]
    return jnp.where(action == STOP, R, compose(turn, R))


def moved(state: State, move: Move, params: Params, *, renderer: Renderer | None = None) -> State:
    """Return the state of `step` without its observation.

    On a CPU the silhouette is drawn only where its IoU is not known; another renderer than the exact one always draws.
    """
    R = turned(state.R, move.action)

    def draw() -> Array:
        return iou((renderer or exact_renderer(state.task))(state.task.solid, R), state.target)

    found = jax.lax.cond(jnp.isnan(move.iou), draw, lambda: move.iou) if renderer is None else draw()
    return judge(state, move.action, R, found, params)


def step(
    state: State, action: Int32[Array, ""] | int | Move, params: Params, *, renderer: Renderer | None = None
) -> tuple[State, Observation]:
    """Return the state after one decision, and its observation: R[t+1] = Q(a) R[t].

    `action` is an index of ACTIONS, [0, 24], or a policy's move; STOP leaves the pose as it is. Raises ValueError for
    another number known outside jit, and for a kind that is no integer. A traced index outside, and stepping an ended
    episode, are the caller's mistakes and are not caught here: no branch on a state is worth its cost under vmap.
    """
    action = as_move(action).action
    R = turned(state.R, action)
    current = (renderer or exact_renderer(state.task))(state.task.solid, R)
    state = judge(state, action, R, iou(current, state.target), params)
    return state, observe(state, current)
