"""A suite: a frozen batch of tasks with its identity; a pytree, task i is `suite[i]`, also under jit."""

import dataclasses
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

import jax
import numpy as np

from rotajax.checks import require, require_at_least
from rotajax.geometry import symmetry
from rotajax.geometry.solid import Solid, bucket, make_solid
from rotajax.icons.outline import outline_points, plane_points
from rotajax.tasks import folder
from rotajax.tasks.starts import start_pose
from rotajax.tasks.task import Task
from rotajax.types import Array, static, struct


@dataclasses.dataclass(frozen=True, eq=False)
class SuiteInfo:
    """What identifies a suite and its tasks; compared by id, version and sha256, so that it can key a compilation."""

    id: str
    version: int
    sha256: str
    rows: tuple[dict, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SuiteInfo) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return (self.id, self.version, self.sha256, len(self.rows))


@struct
class Suite:
    """The tasks of a suite, every leaf with a leading axis, and its identity."""

    tasks: Task
    info: SuiteInfo = static()

    def __len__(self) -> int:
        return len(self.tasks.start)

    def __getitem__(self, index: int | Array) -> Task:
        """Return task `index`."""
        return self.tasks[index]

    def __iter__(self) -> Iterator[Task]:
        return (self[i] for i in range(len(self)))

    @property
    def ids(self) -> list[str]:
        """The identifiers of the tasks."""
        return [row["id"] for row in self.info.rows]


def load_suite(source: str | Path, *, limit: int | None = None) -> Suite:
    """Return a suite from its folder, or an embedded one by name ("mini"); `limit` keeps the first tasks only.

    Every byte is checked against the suite's hashes. Raises ValueError that names what does not hold.
    """
    if limit is not None:
        require_at_least(limit, 1, "load_suite: limit")
    path = suite_folder(source)
    document = folder.read_document(path)
    rows = document["tasks"]
    rows = rows[:limit]
    outlines = [_outline(path, row) for row in rows]
    columns = bucket(max(len(points) for points in outlines))
    info = SuiteInfo(id=document["id"], version=document["version"], sha256=document["sha256"], rows=tuple(rows))
    solids = (make_solid(p, row["seed"], size=columns) for p, row in zip(outlines, rows, strict=True))
    return Suite(tasks=stack_tasks(solids, rows), info=info)


def _outline(path: Path, row: dict) -> np.ndarray:
    """Return the points of a task in the solid's plane, float64 [N, 2]; a ValueError names the task."""
    mask = folder.read_mask(path, row)
    try:
        points = plane_points(outline_points(mask), tuple(row["circle"]))
        make_solid(points, row["seed"])  # the circle may be another one's: points outside the sphere are refused here
    except ValueError as error:
        raise ValueError(f"suite '{path}': task {row['id']}: {error}") from None
    return points


def stack_tasks(solids: Iterator[Solid] | Sequence[Solid], rows: Sequence[dict]) -> Task:
    """Return the batch of the tasks that solids and rows of a suite describe."""
    solids = list(solids)
    groups = [symmetry.group(symmetry.Symmetry(row["symmetry_order"], row["mirror_angle_deg"])) for row in rows]
    return Task(
        solid=jax.tree.map(lambda *leaves: np.stack(leaves), *solids),
        start=np.stack([start_pose(row["start"]) for row in rows]),  # type: ignore[arg-type]
        group=np.stack(groups),  # type: ignore[arg-type]
    )


def data_folder() -> Path:
    """Return the folder of the embedded data: in the installed package, or in the checkout it runs from."""
    installed = Path(str(resources.files("rotajax"))) / "_data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "data"


def embedded_suites() -> dict[str, Path]:
    """Return the suites that come with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(data_folder().glob("suites/*/suite.json"))}


def suite_folder(source: str | Path) -> Path:
    """Return the folder of a suite given by path or by the name of an embedded one."""
    require(isinstance(source, str | Path), "suite", "a folder's path or an embedded suite's name", repr(source))
    embedded = embedded_suites()
    if str(source) in embedded:
        return embedded[str(source)]
    path = Path(source)
    names = ", ".join(embedded) or "none"
    require(path.exists(), "suite", f"a suite folder or an embedded suite ({names})", f"nothing at '{source}'")
    return path
