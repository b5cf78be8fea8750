"""What the questions about IoUs share: those of a batch of poses of one solid with its target, by us and by peers."""

from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.questions.pictures import Renderer, peer_renderers
from benchmarks.turns import ParityError, Results

# 4 differing pixels of a mask and 4 of its target, over a thin silhouette's union of some thousand pixels.
DIFFERENCE = 0.005


def ours(inputs: Inputs, poses: int, renderer: str, batch: int | None = None) -> Callable[[], np.ndarray]:
    """Return the run over all poses in calls of `batch`: by spans of the skeleton ("span") or exactly ("splat")."""
    import jax

    from rotajax.devices import spread
    from rotajax.render.skeleton import skeleton
    from rotajax.render.span import span_packed
    from rotajax.render.splat import splat

    solid, every = inputs.solid(0), inputs.poses(poses)
    shape, draw, one = (skeleton(solid), span_packed, _span_iou) if renderer == "span" else (solid, splat, _splat_iou)
    target, run = jax.jit(draw)(shape, every[0]), spread(one)
    parts = [every[i : i + (batch or poses)] for i in range(0, poses, batch or poses)]
    return lambda: np.concatenate([run(part, shape, target) for part in parts])


def _span_iou(pose, shape, target):
    from rotajax.compare import iou
    from rotajax.render.span import span_packed

    return iou(span_packed(shape, pose), target)


def _splat_iou(pose, solid, target):
    from rotajax.compare import iou
    from rotajax.render.splat import splat

    return iou(splat(solid, pose), target)


def peer(inputs: Inputs, poses: int, module: str, cores: int) -> Callable[[], np.ndarray]:
    """Return the run of a peer over the same poses, some masks at a time."""
    render, every = peer_renderers(inputs, module, cores)[0], inputs.poses(poses)
    score = scorer(render, every[:1])
    return lambda: np.concatenate([score(every[i : i + 64]) for i in range(0, poses, 64)])


def scorer(render: Renderer, target_pose: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a peer's function from poses to IoUs with its target, which is drawn at the first call."""

    @cache
    def target() -> np.ndarray:
        return render(target_pose)[0]

    def score(poses: np.ndarray) -> np.ndarray:
        masks = render(poses)
        return (masks & target()).sum(axis=(1, 2)) / (masks | target()).sum(axis=(1, 2))

    return score


def same_ious(results: Results) -> None:
    """Raise ParityError unless all subjects' IoUs agree; those named span within the span renderer's margin."""
    from rotajax.search.ground import SPAN_MARGIN

    exact = next(result["result"] for name, result in results.items() if "span" not in name)
    for name, result in results.items():
        allowed = SPAN_MARGIN if "span" in name else DIFFERENCE
        error = float(np.abs(result["result"] - exact).max())
        if error > allowed:
            raise ParityError(f"{name}: expected IoUs within {allowed} of the exact ones, got {error:.4f} off")


def same_batches(results: Results) -> None:
    """Raise ParityError unless all batch sizes give the same IoUs, to the last bit but one."""
    first, *others = (result["result"] for result in results.values())
    for name, other in zip(list(results)[1:], others, strict=True):
        if not np.allclose(first, other, rtol=0, atol=1e-6):
            raise ParityError(
                f"{name}: expected the IoUs of the other batch sizes, got {np.abs(first - other).max()} off"
            )
