"""What does a pose cost in a batch of 1 to 4,096, on one core?"""

from benchmarks.inputs import Inputs
from benchmarks.questions import ious
from benchmarks.turns import Case, Subject

OURS = f"{ious.__name__}:{ious.ours.__name__}"
SPANS, SPLATS = (1, 4, 16, 64, 256, 1024, 4096), (1, 16, 64, 256)


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return a work a batch size: the IoU of every pose of one solid with its target, by spans and exactly."""
    largest = 4 if quick else max(SPANS)
    return [
        Case(
            question="batch",
            work=f"batch {batch:,}: IoU with the target, a solid of the {inputs.name}",
            unit="pose",
            units=batch,
            subjects=tuple(
                Subject(f"rotajax.{name}", OURS, {"poses": batch, "renderer": name})
                for name, sizes in (("span", SPANS), ("splat", SPLATS))
                if batch in sizes
            ),
            # Small batches are short and noisy: more turns.
            runs=15 if batch < 64 else 5,
        )
        for batch in SPANS
        if batch <= largest
    ]
