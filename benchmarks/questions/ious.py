"""What the questions about IoUs share: those of a batch of poses of one solid with its target, by us and by peers."""

from collections.abc import Callable

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.questions.pictures import peer_renderers
from benchmarks.turns import ParityError, Results

# 4 differing pixels of a mask and 4 of its target, over a thin silhouette's union of some thousand pixels.
DIFFERENCE = 0.005


def ours(inputs: Inputs, poses: int, renderer: str) -> Callable[[], np.ndarray]:
    """Return the run of one call over the whole batch: by spans of the skeleton ("span") or exactly ("splat")."""
    import jax

    from rotajax.devices import spread
    from rotajax.render.skeleton import skeleton
    from rotajax.render.span import span_packed
    from rotajax.render.splat import splat

    solid, batch = inputs.solid(0), inputs.poses(poses)
    shape, draw, one = (skeleton(solid), span_packed, _span_iou) if renderer == "span" else (solid, splat, _splat_iou)
    target, run = jax.jit(draw)(shape, batch[0]), spread(one)
    return lambda: run(batch, shape, target)


def _span_iou(pose, shape, target):
    from rotajax.compare import iou
    from rotajax.render.span import span_packed

    return iou(span_packed(shape, pose), target)


def _splat_iou(pose, solid, target):
    from rotajax.compare import iou
    from rotajax.render.splat import splat

    return iou(splat(solid, pose), target)


def peer(inputs: Inputs, poses: int, module: str, cores: int) -> Callable[[], np.ndarray]:
    """Return the run of a peer over the same batch, some masks at a time."""
    render, batch = peer_renderers(inputs, module, cores)[0], inputs.poses(poses)
    target = render(batch[:1])[0]

    def part(some: np.ndarray) -> np.ndarray:
        masks = render(some)
        return (masks & target).sum(axis=(1, 2)) / (masks | target).sum(axis=(1, 2))

    return lambda: np.concatenate([part(batch[i : i + 64]) for i in range(0, len(batch), 64)])


def same_ious(results: Results) -> None:
    """Raise ParityError unless all subjects' IoUs agree; those named span within the span renderer's margin."""
    from rotajax.search.ground import SPAN_MARGIN

    exact = next(result["result"] for name, result in results.items() if "span" not in name)
    for name, result in results.items():
        allowed = SPAN_MARGIN if "span" in name else DIFFERENCE
        error = float(np.abs(result["result"] - exact).max())
        if error > allowed:
            raise ParityError(f"{name}: expected IoUs within {allowed} of the exact ones, got {error:.4f} off")
