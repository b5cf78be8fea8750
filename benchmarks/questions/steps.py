"""How many environment steps a second, with the full observation and with one of 80 x 80, on one core?"""

from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks.inputs import STEPS, Inputs
from benchmarks.questions.pictures import DIFFERING_PIXELS, peer_renderers
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
SIDE = 80
# Of an observation's view: a point on the edge of a pixel moves a disk of 13, which two smoothings widen.
DIFFERING_SHARE = 0.005


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return two works: random walks observed in full (mask and view), and area-averaged to 80 x 80."""
    walks = 2 if quick else 8
    found = []
    for small in (False, True):
        options = {"walks": walks, "small": small}
        subjects = [
            Subject(f"rotajax.step, {name}", HERE + ours.__name__, {**options, "renderer": name})
            for name in ("splat", "span")
        ]
        peer = Subject("Numba + OpenCV", HERE + numba_steps.__name__, options, peer=True)
        size = f"{SIDE} x {SIDE}" if small else "320 x 320"
        found.append(
            Case(
                question="environment steps",
                work=f"mask and view {size}, {walks} walks of {STEPS} steps, {inputs.name}",
                unit="step",
                units=walks * STEPS,
                subjects=(*subjects, peer),
                parity=same_observations,
            )
        )
    return found


def ours(inputs: Inputs, walks: int, small: bool, renderer: str) -> Callable[[], dict]:
    """Return the run of `rotajax.step`: the IoU, mask and view after every step."""
    import jax

    from rotajax.devices import spread
    from rotajax.env.state import Params
    from rotajax.tasks.task import Task

    starts, actions, _ = inputs.walks(walks)
    solids = [inputs.solid(i % inputs.count) for i in range(walks)]
    solid = jax.tree.map(lambda *leaves: np.stack(leaves), *solids)
    group = np.broadcast_to(np.eye(3, dtype=np.float32), (walks, 24, 3, 3))
    reset, play = _functions(renderer, small)
    states = spread(reset)(Task(solid=solid, start=starts, group=group), Params())
    run = spread(play)
    return lambda: run((states, actions), Params())


@cache
def _functions(renderer: str, small: bool) -> tuple[Callable, Callable]:
    import dataclasses

    import jax

    from rotajax.env.step import reset, step
    from rotajax.render.span import span
    from rotajax.render.splat import splat

    draw = {"splat": splat, "span": span}[renderer]

    def first(task, params):
        return reset(task, params, renderer=draw)[0]

    def play(item, params):
        start, actions = item

        def one(light, action):
            state = dataclasses.replace(light, task=start.task, target=start.target)
            state, seen = step(state, action, params, renderer=draw)
            out = {"iou": state.iou, "mask": seen.current, "view": seen.view}
            return dataclasses.replace(state, task=None, target=None), {**out, **_averaged(out)} if small else out

        return jax.lax.scan(one, dataclasses.replace(start, task=None, target=None), actions)[1]

    return first, play


def _averaged(pictures: dict) -> dict:
    """Return mask and view, UInt8[80, 80], as means over 4 x 4 pixels, rounded half up."""
    from rotajax.train.picture import small

    return {name: small(pictures[name]) for name in ("mask", "view")}


def numba_steps(inputs: Inputs, walks: int, small: bool) -> Callable[[], dict]:
    """Return the run of the compiled peer: mask, IoU and view of the same poses."""
    import cv2

    from benchmarks.peers import numba_opencv

    masks = peer_renderers(inputs, "numba_opencv", 1)
    views = [numba_opencv.views(inputs.points(i), 1) for i in range(inputs.count)]
    targets = [render(inputs.poses(1))[0] for render in masks]
    _, _, walked = inputs.walks(walks)

    def averaged(pictures: np.ndarray) -> np.ndarray:
        return np.stack([cv2.resize(p, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for p in pictures])

    def run() -> dict:
        found: dict[str, list] = {"iou": [], "mask": [], "view": []}
        for i, poses in enumerate(walked):
            mask, view, target = (
                masks[i % inputs.count](poses),
                views[i % inputs.count](poses),
                targets[i % inputs.count],
            )
            union = (mask | target).sum(axis=(1, 2))
            found["iou"].append((mask & target).sum(axis=(1, 2)) / union)
            found["mask"].append(averaged(mask.view(np.uint8) * np.uint8(255)) if small else mask)
            found["view"].append(averaged(view) if small else view)
        return {name: np.stack(parts) for name, parts in found.items()}

    return run


def same_observations(results: Results) -> None:
    """Raise ParityError unless masks and views are those of the exact step, but for a few pixels."""
    exact = results["rotajax.step, splat"]
    for name, found in results.items():
        if name.endswith("span"):  # its masks are held to a margin by the question of the span mask
            continue
        masks = _differing(found["mask"], exact["mask"])
        views = _differing(found["view"], exact["view"]) / found["view"][0, 0].size
        if masks > DIFFERING_PIXELS or views > DIFFERING_SHARE:
            raise ParityError(
                f"{name}: expected {DIFFERING_PIXELS} pixels of a mask and {DIFFERING_SHARE:.1%} of a view to differ "
                f"at most, got {masks} and {views:.2%}"
            )


def _differing(a: np.ndarray, b: np.ndarray) -> int:
    """Return the largest number of pixels of a picture that differ by more than one grey level."""
    if a.dtype == np.bool_:
        return int((a != b).sum(axis=(-2, -1)).max())
    return int((np.abs(a.astype(np.int16) - b) > 1).sum(axis=(-2, -1)).max())
