"""`search_suite`: reference and shortest paths for every task of a suite folder, resumable, on one host or many."""

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
from tqdm import tqdm

from rotajax.checks import require
from rotajax.files import take, write_atomically
from rotajax.processes import agree, is_leader
from rotajax.search.ground import make_ground
from rotajax.search.reference import Reference, find_reference
from rotajax.tasks import folder
from rotajax.tasks.suite import Suite, load_suite
from rotajax.tasks.task import BONES

# One line a task; raise it when the search would find other paths for the same task.
FORMAT = "rotajax.search/1"
LOG = "search.jsonl"


def search_suite(path: Path, *, wide: bool = True, say: Callable[[str], None] | None = None) -> dict:
    """Search every task of a suite folder, write the paths into its suite.json and return the document.

    A line a task goes to `search.jsonl` as soon as it is found, so a killed search goes on where it was; suite.json is
    rewritten, with its new hashes, once all are there. With several processes every one searches its share of the
    poses of each task and the first one writes. A task whose search fails is named and ends the run, the rest kept.
    """
    say = say or (lambda line: print(line, file=sys.stderr))
    suite = load_suite(path)
    leader = is_leader()
    log = path / LOG
    with _appending(log if leader else Path(os.devnull)) as write:
        done = agree(_read_log(log, suite, wide, say) if leader else None)
        rest = range(len(done), len(suite))
        for index in tqdm(rest, "paths", len(suite), initial=len(done), unit="task", disable=not leader):
            found = _search_one(suite, index, wide)
            line = {"format": FORMAT, "task": suite.ids[index], "digest": _key(suite, index, wide), **asdict(found)}
            write(line)
            done.append(json.loads(json.dumps(line)))  # as a resumed search reads it
    document = folder.read_document(path)
    rows = [_with_paths(row, line) for row, line in zip(document["tasks"], done, strict=True)]
    document = folder.make_document(document["id"], rows, version=document["version"], source=document.get("source"))
    if leader:
        write_atomically(path / "suite.json", folder.document_text(document))
    return document


def _search_one(suite: Suite, index: int, wide: bool) -> Reference:
    try:
        return find_reference(make_ground(suite[index], columns=BONES), suite.info.rows[index]["start"], wide=wide)
    except ValueError as error:
        raise ValueError(f"suite {suite.info.id}: task {suite.ids[index]}: {error}") from None


def _with_paths(row: dict, line: dict) -> dict:
    paths = {name: line[name] for name in ("shortest", "lower_bound")}
    return {**row, "reference": line["path"], **paths}


def _key(suite: Suite, index: int, wide: bool) -> str:
    """Return a hash of what a search depends on: the task without its paths, and the kind of search."""
    row = {
        k: v for k, v in suite.info.rows[index].items() if k not in ("reference", "shortest", "lower_bound", "digest")
    }
    return hashlib.sha256(folder.canonical([FORMAT, row, wide])).hexdigest()


def _read_log(log: Path, suite: Suite, wide: bool, say: Callable[[str], None]) -> list[dict]:
    """Return the lines of an earlier search of the same tasks, in their order; a torn last line is cut off."""
    if not log.exists():
        return []
    data = log.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        say(f"{log}: the last line was cut off by a kill; its task is searched again")
        os.truncate(log, len(whole))  # not replaced: this process has it open
    lines = []
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{log}: line {number}: expected JSON, got {error}") from None
        expected = _key(suite, len(lines), wide) if len(lines) < len(suite) else "no more lines"
        got = line.get("digest") if isinstance(line, dict) else type(line).__name__
        require(got == expected, f"{log}: line {number}: expected a line of this suite: digest", expected, str(got))
        lines.append(line)
    return lines


@contextmanager
def _appending(path: Path) -> Iterator[Callable[[dict], None]]:
    """Take a file and give a function that appends a JSON line, which is on the disk when it returns."""
    with path.open("a", encoding="utf-8") as file:
        if path.is_file():
            take(file.fileno(), f"suite '{path.parent}'")

        def write(line: dict) -> None:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()
            if path.is_file():
                os.fsync(file.fileno())

        yield write


def summarise(document: dict) -> Iterator[str]:
    """Return lines about the paths of a searched suite, as in Tables 6 and 7 of the paper."""
    rows = document["tasks"]
    reference = np.array([len(row["reference"]) for row in rows])
    inverse = np.array([len(row["start"]) for row in rows])
    shortest = np.array([len(row["shortest"]) for row in rows])
    proved = shortest == [row["lower_bound"] for row in rows]
    shorter = 100 * float(np.mean(reference < inverse))
    yield f"reference: mean {reference.mean():.2f}, median {np.median(reference):g}, {_histogram(reference)}"
    yield f"inverse start: mean {inverse.mean():.2f}, median {np.median(inverse):g}"
    yield f"reference shorter on {shorter:.1f} %, longer on {int(np.sum(reference > inverse))} tasks"
    yield f"shortest: mean {shortest.mean():.2f}, median {np.median(shortest):g}, {_histogram(shortest)}"
    yield f"proved shortest: {int(proved.sum())} of {len(rows)} tasks"


def _histogram(lengths: np.ndarray) -> str:
    return "lengths " + " ".join(f"{length}:{count}" for length, count in sorted(Counter(lengths.tolist()).items()))
