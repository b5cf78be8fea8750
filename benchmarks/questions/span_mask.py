"""How long does a silhouette by spans take, on one core, and how far is it from the exact one?"""

from collections.abc import Callable

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.questions import exact_mask
from benchmarks.questions.pictures import EXACT, peers, same_pictures
from benchmarks.turns import Case, Subject

HERE = f"{__name__}:"
# The other peers are several times slower, as the question of the exact mask shows.
FASTEST = ("Numba + OpenCV", "Warp + OpenCV")


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return the work of the exact mask, drawn by spans."""
    options = {"poses": 2 if quick else 8}
    make = HERE + ours.__name__
    return [
        Case(
            question="span mask",
            work=f"{options['poses']} poses of each of {inputs.count} solids, {inputs.name}",
            unit="mask",
            units=options["poses"] * inputs.count,
            subjects=(
                Subject("rotajax.span, skeleton", make, {**options, "thinned": True}),
                Subject("rotajax.span, all columns", make, {**options, "thinned": False}),
                Subject(EXACT, exact_mask.HERE + exact_mask.ours.__name__, options),
                *peers(exact_mask.PEER, options, names=FASTEST),
            ),
            parity=same_pictures,
            runs=7,
        )
    ]


def ours(inputs: Inputs, poses: int, thinned: bool) -> Callable[[], np.ndarray]:
    """Return the run of `rotajax.render.span.span_packed`, on skeletons or on whole solids."""
    from rotajax.devices import spread
    from rotajax.render.skeleton import skeleton

    solids = [inputs.solid(i) for i in range(inputs.count)]
    # One padded size: one program for all.
    size = max(s.x.shape[-1] for s in map(skeleton, solids)) if thinned else 0
    shapes = [skeleton(solid, size=size) if thinned else solid for solid in solids]
    batch, run = inputs.poses(poses), spread(_packed)
    return lambda: np.stack([run(batch, shape) for shape in shapes])


def _packed(pose, shape):
    from rotajax.render.span import span_packed

    return span_packed(shape, pose)
