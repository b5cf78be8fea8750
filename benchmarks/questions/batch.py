"""What does a pose cost in calls of 1 to 4,096 poses, on one core?"""

from benchmarks.inputs import POSES, Inputs
from benchmarks.questions import ious
from benchmarks.turns import Case, Subject

OURS = f"{ious.__name__}:{ious.ours.__name__}"
SPANS, SPLATS = (1, 16, 64, 512, POSES), (1, 16, 64)


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return two works, the same poses by batches of every size: by spans, and fewer of them exactly."""
    return [
        _case(inputs, renderer, tuple(size for size in sizes if size <= 16 or not quick))
        for renderer, sizes in (("span", SPANS), ("splat", SPLATS))
    ]


def _case(inputs: Inputs, renderer: str, sizes: tuple[int, ...]) -> Case:
    poses = max(sizes)
    return Case(
        question="batch",
        work=f"IoU of {poses:,} poses with the target, a solid of the {inputs.name}",
        unit="pose",
        units=poses,
        subjects=tuple(
            Subject(f"rotajax.{renderer}, batch {size:,}", OURS, {"poses": poses, "renderer": renderer, "batch": size})
            for size in sizes
        ),
        parity=ious.same_batches,
    )
