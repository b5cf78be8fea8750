"""What a solver sees of a state: the target, the auxiliary view and the current silhouette (Equation 1)."""

from collections.abc import Callable

import jax

from rotajax.env.state import State
from rotajax.geometry.solid import Solid
from rotajax.render.certified import certified_packed
from rotajax.render.packed import unpack
from rotajax.render.panel import panel
from rotajax.render.shade import shade
from rotajax.render.splat import splat
from rotajax.tasks.task import Task
from rotajax.types import Array, Mask, Rotation, UInt8, View, struct

# A renderer of silhouettes: the exact one is `splat`.
Renderer = Callable[[Solid, Rotation], Mask]


def exact_renderer(task: Task) -> Renderer:
    """Return the exact renderer for a task: `splat`, or what draws the same sooner by the task's skeleton on a CPU."""
    bones = task.bones
    if bones is None:
        return splat

    def certified(solid: Solid, R: Rotation) -> Mask:
        return unpack(certified_packed(solid, bones, R))

    # Its short loops over a few columns are a CPU's.
    return lambda solid, R: jax.lax.platform_dependent(solid, R, cpu=certified, default=splat)


@struct
class Observation:
    """The three pictures of a turn; nothing of the pose, the IoU or the path."""

    target: Mask
    view: View
    current: Mask

    def panel(self) -> UInt8[Array, "H 972"]:
        """Return the 972 x 320 panel of Appendix G."""
        return panel(self.target, self.view, self.current)


def observe(state: State, current: Mask) -> Observation:
    """Return the observation of a state whose current silhouette is already drawn.

    Under jit a view that is not used is not drawn.
    """
    return Observation(target=state.target, view=shade(state.task.solid, state.R), current=current)
