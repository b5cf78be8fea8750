"""`make_entries`: the methods of one or more runs of a suite, with names that differ; `with_coverage` measures them."""

import dataclasses
import sys
from collections import Counter
from collections.abc import Sequence

from tqdm import tqdm

from rotajax.analysis import Analysis, Method
from rotajax.analysis.coverage import Coverage, measure_coverage
from rotajax.checks import require


@dataclasses.dataclass(frozen=True)
class Entry:
    """A method of a report."""

    method: Method  # its `name` is the label in the report
    policy: str  # its name in the run
    analysis: Analysis
    coverage: Coverage | None = None


def make_entries(analyses: Sequence[Analysis]) -> list[Entry]:
    """Return an entry a policy and run. A policy of several runs gets the run's folder into its name.

    Raises ValueError for runs of different suites, or the same run folder twice.
    """
    require(len(analyses) > 0, "report", "at least one run", "none")
    first = analyses[0]
    for other in analyses[1:]:
        same = other.identity == first.identity
        require(same, f"run '{other.run.path}': suite", _called(first.identity), _called(other.identity))
    paths = [analysis.run.path.resolve() for analysis in analyses]
    twice = [str(path) for path, count in Counter(paths).items() if count > 1]
    require(not twice, "report: runs", "each run once", f"{twice[:1]} twice")
    often = Counter(method.name for analysis in analyses for method in analysis.methods)
    names = Counter(path.name for path in paths)
    entries = []
    for analysis, path in zip(analyses, paths, strict=True):
        folder = path.name if names[path.name] == 1 else str(analysis.run.path)
        for method in analysis.methods:
            label = method.name if often[method.name] == 1 else f"{method.name} ({folder})"
            entries.append(Entry(dataclasses.replace(method, name=label), method.name, analysis))
    return entries


def with_coverage(entries: Sequence[Entry], *, progress: bool = True) -> list[Entry]:
    """Return the entries with their coverage measured (some seconds a hundred episodes)."""
    episodes, found = sum(len(entry.method.episodes) for entry in entries), {}
    with tqdm(total=episodes, desc="coverage", unit="episode", file=sys.stderr, disable=not progress) as bar:
        for entry in entries:
            path = entry.analysis.run.path
            if path not in found:
                found[path] = measure_coverage(entry.analysis, tick=bar.update)
    return [dataclasses.replace(e, coverage=found[e.analysis.run.path][e.policy]) for e in entries]


def _called(identity: dict) -> str:
    return f"{identity.get('id')} version {identity.get('version')}, sha256 {str(identity.get('sha256'))[:12]}"
