"""How long does the oracle take a successor, on one core, with the very choice that the exact renderer makes?"""

from collections.abc import Callable

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.questions.ious import scorer
from benchmarks.questions.pictures import peer_renderers, peers
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
EXACT = "rotajax.successor_ious"
# A pixel of a thousand may fall to either side in a peer's arithmetic: so far below its best its choice may be.
NEAR_TIE = 0.001


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return two works: a few poses beside the peers, and many, to see what settling close choices exactly costs."""
    few, many = (1, 2) if quick else (2, 32)
    return [
        _case(inputs, few, (EXACT,), peers(HERE + peer.__name__, {"states": few})),
        _case(inputs, many, ("24 span IoUs, nothing settled",), ()),
    ]


def _case(inputs: Inputs, states: int, others: tuple[str, ...], rivals: tuple[Subject, ...]) -> Case:
    names = ("rotajax.best_by_iou", *others)
    return Case(
        question="oracle",
        work=f"{states} poses of a solid of the {inputs.name}, half near its target, 24 successors each",
        unit="successor",
        units=24 * states,
        subjects=(*(Subject(n, HERE + ours.__name__, {"states": states, "name": n}) for n in names), *rivals),
        parity=same_choices,
    )


def ours(inputs: Inputs, states: int, name: str) -> Callable[[], dict]:
    """Return the run of one call over all poses: their best successors, or the IoUs of all 24."""
    import jax

    from rotajax.devices import spread
    from rotajax.render.skeleton import skeleton
    from rotajax.render.splat import splat

    solid, poses = inputs.solid(0), inputs.states(states)
    columns, target = skeleton(solid), jax.jit(splat)(solid, np.eye(3, dtype=np.float32))
    run = spread({"rotajax.best_by_iou": _decided, EXACT: _exact}.get(name, _rough))
    return lambda: run(poses, solid, columns, target)


def _decided(R, solid, columns, target) -> dict:
    from rotajax.search.oracle import best_by_iou

    choice = best_by_iou(solid, columns, target, R)
    return {"best": choice.best, "settled": choice.settled}


def _exact(R, solid, columns, target) -> dict:
    import jax.numpy as jnp

    from rotajax.search.successors import successor_ious

    ious = successor_ious(solid, target, R)
    return {"best": jnp.argmax(ious).astype(jnp.int32), "ious": ious}


def _rough(R, solid, columns, target) -> dict:
    import jax

    from rotajax.compare import iou
    from rotajax.render.packed import pack
    from rotajax.render.span import span_packed
    from rotajax.search.successors import successor_poses

    packed = pack(target)
    return {"ious": jax.lax.map(lambda pose: iou(span_packed(columns, pose), packed), successor_poses(R))}


def peer(inputs: Inputs, states: int, module: str, cores: int) -> Callable[[], dict]:
    """Return the run of a peer: all masks, all IoUs, the best of each 24."""
    score = scorer(peer_renderers(inputs, module, cores)[0], inputs.poses(1))
    successors = inputs.successors(states)

    def run() -> dict:
        ious = np.stack([score(poses) for poses in successors])
        return {"best": ious.argmax(axis=1), "ious": ious}

    return run


def same_choices(results: Results) -> None:
    """Raise ParityError unless the oracle's choices are those of the exact renderer, and peers' but for near ties."""
    best = results["rotajax.best_by_iou"]["best"]
    for name, found in results.items():
        if name == EXACT and not np.array_equal(found["best"], best):
            raise ParityError(f"oracle: expected the exact renderer's choices {found['best']}, got {best}")
        if name != EXACT and {"best", "ious"} <= set(found):
            behind = float((found["ious"].max(axis=1) - found["ious"][np.arange(len(best)), best]).max())
            if behind > NEAR_TIE:
                raise ParityError(f"{name}: expected the oracle's choices to be its best, they are {behind:.4f} behind")
