"""The decision-exact oracle: the best of 24 successors by exact IoU, at the cost of spans."""

import jax
import jax.numpy as jnp

from rotajax.compare import iou
from rotajax.geometry.solid import Solid
from rotajax.render.packed import pack
from rotajax.render.skeleton import Skeleton
from rotajax.render.span import span_packed
from rotajax.render.splat import splat
from rotajax.search.successors import successor_poses
from rotajax.types import Array, Float32, Int32, Mask, Rotation, struct

# Two poses of one solid whose span IoUs differ by more are in the order of their exact IoUs: above the largest
# difference of two errors that benchmarks/margin.py has measured.
PAIR_MARGIN = 0.007


@struct
class Choice:
    """The best successor and what was known when it was chosen."""

    best: Int32[Array, ""]  # its action, the lowest on ties of exact IoU
    ious: Float32[Array, "A"]  # exact where `settled`, else of spans
    settled: Int32[Array, ""]  # how many successors were drawn exactly


def best_by_iou(
    solid: Solid, columns: Solid | Skeleton, target: Mask, R: Rotation, *, margin: float = PAIR_MARGIN
) -> Choice:
    """Return the successor of a pose with the highest exact IoU.

    Spans of `columns` (the solid's skeleton, or the solid itself) shortlist: a successor whose span IoU is more than
    `margin` below the best cannot win. Where more than one is left, the exact renderer decides among them.
    """
    poses = successor_poses(R)
    packed = pack(target)
    rough = jax.lax.map(lambda pose: iou(span_packed(columns, pose), packed), poses)
    contender = rough >= jnp.max(rough) - jnp.float32(margin)
    count = jnp.sum(contender, dtype=jnp.int32)
    open_ = contender & (count > 1)

    def settle(item: tuple[Array, Array, Array]) -> Array:
        pose, needed, span_iou = item
        return jax.lax.cond(needed, lambda: iou(splat(solid, pose), target), lambda: span_iou)

    ious = jax.lax.map(settle, (poses, open_, rough))
    best = jnp.argmax(jnp.where(contender, ious, jnp.float32(-1))).astype(jnp.int32)
    return Choice(best=best, ious=ious, settled=jnp.sum(open_, dtype=jnp.int32))
