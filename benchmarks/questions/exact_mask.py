"""How long does an exact silhouette take, on one core?

`rotajax certified` is given the solid's skeleton, which is part of a task and built once, before the clock starts.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.questions.pictures import EXACT, peer_masks, peers, same_pictures
from benchmarks.turns import Case, Subject

HERE = f"{__name__}:"
PEER = f"{peer_masks.__module__}:{peer_masks.__name__}"


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return the work: some poses of every solid, a mask each."""
    options = {"poses": 2 if quick else 8}
    return [
        Case(
            question="exact mask",
            work=f"{options['poses']} poses of each of {inputs.count} solids, {inputs.name}",
            unit="mask",
            units=options["poses"] * inputs.count,
            subjects=(
                Subject(EXACT, HERE + ours.__name__, options),
                Subject("rotajax certified", HERE + certified.__name__, options),
                *peers(PEER, options),
            ),
            parity=same_pictures,
            runs=7,
        )
    ]


def ours(inputs: Inputs, poses: int) -> Callable[[], np.ndarray]:
    """Return the run of `rotajax.splat`."""
    from rotajax.devices import spread
    from rotajax.render.splat import splat

    solids, batch = [inputs.solid(i) for i in range(inputs.count)], inputs.poses(poses)
    run = spread(_turned(splat))
    return lambda: np.stack([run(batch, solid) for solid in solids])


def certified(inputs: Inputs, poses: int) -> Callable[[], np.ndarray]:
    """Return the run of `rotajax.render.certified.certified_packed`."""
    from rotajax.devices import spread
    from rotajax.render.skeleton import skeleton

    solids = [inputs.solid(i) for i in range(inputs.count)]
    # One padded size: one program for all.
    size = max(skeleton(solid).x.shape[-1] for solid in solids)
    pairs = [(solid, skeleton(solid, size=size)) for solid in solids]
    batch, run = inputs.poses(poses), spread(_certified)
    return lambda: np.stack([run(batch, pair) for pair in pairs])


def _certified(pose, pair):
    from rotajax.render.certified import certified_packed

    solid, columns = pair
    return certified_packed(solid, columns, pose)


def _turned(renderer: Callable) -> Callable:
    return lambda pose, shape: renderer(shape, pose)
