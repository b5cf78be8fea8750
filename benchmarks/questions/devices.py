"""How much faster are two host devices than one, beside peers that use two cores?"""

from benchmarks.inputs import Inputs
from benchmarks.questions import ious
from benchmarks.questions.pictures import peers
from benchmarks.turns import Case, Subject

OURS = f"{ious.__name__}:{ious.ours.__name__}"
PEER = f"{ious.__name__}:{ious.peer.__name__}"
PARALLEL = ("Numba + OpenCV", "PyTorch")


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return two works: many poses by spans alone, and fewer exactly, beside the peers that run in parallel."""
    spans, splats = (4, 4) if quick else (1024, 64)
    return [
        _case(f"IoU of {spans:,} poses by spans, a solid of the {inputs.name}", "span", spans, ()),
        _case(
            f"IoU of {splats:,} poses exactly, a solid of the {inputs.name}",
            "splat",
            splats,
            peers(PEER, {"poses": splats}, cores=2, names=PARALLEL),
        ),
    ]


def _case(work: str, renderer: str, poses: int, others: tuple[Subject, ...]) -> Case:
    options = {"poses": poses, "renderer": renderer}
    subjects = [
        Subject(f"rotajax.{renderer}, {n} device{'s'[: n - 1]}", OURS, options, cores=n, devices=n) for n in (1, 2)
    ]
    parity = ious.same_ious if others else ious.same_batches
    return Case("devices", work, "pose", poses, (*subjects, *others), parity)
