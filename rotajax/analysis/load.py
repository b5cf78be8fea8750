"""`load`: a run folder as an `Analysis`: its methods as typed columns, with the symmetries of its suite."""

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from rotajax.analysis.method import Method, make_method
from rotajax.analysis.pictures import require_ious
from rotajax.analysis.replay import require_replays
from rotajax.checks import require
from rotajax.geometry.symmetry import Symmetry, group
from rotajax.records import Run, read_run
from rotajax.tasks import folder
from rotajax.tasks.starts import start_pose
from rotajax.tasks.suite import Suite, embedded_suites, load_suite, suite_folder


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A run with the symmetries of its tasks: all that tables and figures need."""

    run: Run
    identity: dict  # id, version and sha256 of the suite
    methods: tuple[Method, ...]  # one a policy, in the order of the run
    source: Path | None  # the suite's folder, where there is one

    def __getitem__(self, policy: str) -> Method:
        """Return a method by its policy. Raises ValueError for a policy that the run has not."""
        names = [method.name for method in self.methods]
        require(policy in names, f"run '{self.run.path}': policy", "one of " + ", ".join(names), repr(policy))
        return self.methods[names.index(policy)]

    @cached_property
    def suite(self) -> Suite:
        """The suite with its solids, read when first asked for: what pictures and coverage are made of."""
        require(self.source is not None, f"run '{self.run.path}': suite", "a suite folder", "symmetries only")
        return load_suite(self.source)  # type: ignore[arg-type]


def load(run: str | Path | Run, suite: str | Path | None = None, *, check: bool = True, draw: int = 0) -> Analysis:
    """Return a run folder, or a run already read, ready for analysis.

    suite: the suite's folder or name; without it an embedded suite of the run's id. check: refuse steps that do not
    replay (see `replay`); with False they are analysed as they are. draw: states whose silhouettes are drawn again to
    check their IoU. Raises ValueError for what `read_run` refuses, an empty run, a suite of another sha256 or without
    the run's tasks, steps that do not replay, and IoUs that are not those of the pictures.
    """
    run = run if isinstance(run, Run) else read_run(run)
    source = _source(run, suite)
    document = folder.read_document(source)
    asked = run.meta["asked"]["suite"]
    same = document["sha256"] == asked.get("sha256")
    require(same, f"run '{run.path}': suite", _called(asked), f"{_called(document)} in '{source}'")
    rows = {row["id"]: row for row in document["tasks"]}
    groups = {
        task: group(Symmetry(rows[task]["symmetry_order"], rows[task]["mirror_angle_deg"]))
        for task in run.tasks
        if task in rows
    }
    analysis = attach(run, groups, source=source)
    if check:
        require_replays(analysis.run, groups, {task: start_pose(rows[task]["start"]) for task in run.tasks})
    if draw:
        require_ious(analysis.run, analysis.suite, sample=draw)
    return analysis


def attach(run: Run, groups: Mapping[str, np.ndarray], *, source: Path | None = None) -> Analysis:
    """Return a run with symmetries given by task, float32 [G, 3, 3] each: for runs whose suite is not at hand.

    Raises ValueError for an empty run, or a task without a group.
    """
    require(len(run.episodes) > 0, f"run '{run.path}'", "at least one finished episode", "none")
    missing = [task for task in run.tasks if task not in groups]
    require(not missing, f"run '{run.path}': tasks", "tasks of the suite", missing[:1])
    stacked = np.stack([groups[task] for task in run.tasks])
    suite = run.meta["asked"].get("suite")
    identity = {key: suite.get(key) for key in ("id", "version", "sha256")} if isinstance(suite, dict) else {}
    methods = tuple(make_method(run, index, stacked, identity) for index in range(len(run.policies)))
    return Analysis(run, identity, methods, source)


def _source(run: Run, given: str | Path | None) -> Path:
    """Return the folder of the run's suite."""
    asked = run.meta["asked"].get("suite")
    named = isinstance(asked, dict) and isinstance(asked.get("id"), str)
    require(named, f"run '{run.path}': run.json: asked: suite", "an object with an id", repr(asked))
    if given is not None:
        return suite_folder(given)
    embedded = embedded_suites()
    name = f"run '{run.path}': suite {asked['id']}"  # type: ignore[index]
    require(asked["id"] in embedded, name, "its folder to be given", "none")  # type: ignore[index]
    return embedded[asked["id"]]  # type: ignore[index]


def _called(suite: dict) -> str:
    return f"{suite.get('id')} version {suite.get('version')}, sha256 {str(suite.get('sha256'))[:12]}"
