"""Searching a whole suite: what is written, killed, resumed, refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rotajax import collection
from rotajax.collection import search_suite, summarise
from rotajax.tasks import folder
from suites import write_tiny_suite

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def unsearched(tmp_path_factory):
    """Two of the tiny suite's tasks, the shorter ones."""
    path = write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")
    document = folder.read_document(path)
    rows = sorted(document["tasks"], key=lambda row: len(row["start"]))[:2]
    rows = [{k: v for k, v in row.items() if k != "digest"} for row in sorted(rows, key=lambda row: row["id"])]
    (path / "suite.json").write_text(folder.document_text(folder.make_document("tiny", rows)))
    return path


@pytest.fixture(scope="module")
def searched(unsearched, tmp_path_factory):
    path = tmp_path_factory.mktemp("searched") / "tiny"
    shutil.copytree(unsearched, path)
    search_suite(path)
    return path


@pytest.fixture
def path(unsearched, tmp_path):
    return Path(shutil.copytree(unsearched, tmp_path / "tiny"))


def contents(path):
    return {name: (path / name).read_bytes() for name in ("suite.json", "search.jsonl")}


@pytest.fixture
def counted(monkeypatch):
    """The tasks that are searched, by number; nothing else changes."""
    seen, search = [], collection._search_one
    monkeypatch.setattr(collection, "_search_one", lambda suite, i, wide: seen.append(i) or search(suite, i, wide))
    return seen


def test_paths_and_bounds_are_in_the_document_and_hashes_hold(searched, unsearched):
    document, before = folder.read_document(searched), folder.read_document(unsearched)
    lines = [json.loads(line) for line in (searched / "search.jsonl").read_text().splitlines()]
    assert [line["task"] for line in lines] == [row["id"] for row in document["tasks"]]
    for row, old, line in zip(document["tasks"], before["tasks"], lines, strict=True):
        assert (row["reference"], row["shortest"], row["lower_bound"]) == (
            line["path"],
            line["shortest"],
            line["lower_bound"],
        )
        assert 1 <= row["lower_bound"] <= len(row["shortest"]) <= len(row["reference"]) <= len(row["start"])
        kept = {k: v for k, v in old.items() if k not in ("reference", "lower_bound", "digest")}
        assert kept.items() <= row.items()
    assert document["sha256"] != before["sha256"]
    said = list(summarise(document))
    assert (
        said[-1]
        == f"proved shortest: {sum(len(r['shortest']) == r['lower_bound'] for r in document['tasks'])} of 2 tasks"
    )


def test_a_second_search_does_nothing_and_changes_nothing(searched, counted):
    before = contents(searched)
    search_suite(searched)
    assert contents(searched) == before
    assert counted == []


KILLED = """
import os, signal, sys
from pathlib import Path
from rotajax import collection
find, calls = collection.find_reference, []
def deadly(*args, **options):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return find(*args, **options)
collection.find_reference = deadly
collection.search_suite(Path(sys.argv[1]))
"""


def test_a_killed_search_goes_on_and_ends_as_if_undisturbed(searched, path, unsearched, counted):
    command = [sys.executable, "-c", KILLED, str(path)]
    assert subprocess.run(command, cwd=ROOT, env=os.environ, check=False).returncode == -signal.SIGKILL
    assert (path / "search.jsonl").read_bytes().count(b"\n") == 1
    assert (path / "suite.json").read_bytes() == (unsearched / "suite.json").read_bytes()
    search_suite(path)
    assert counted == [1]
    assert contents(path) == contents(searched)


@pytest.mark.parametrize("keep", [1, 40, -1])
def test_a_torn_last_line_is_searched_again(searched, path, counted, keep):
    first, second = (searched / "search.jsonl").read_bytes().splitlines(keepends=True)
    (path / "search.jsonl").write_bytes(first + second[:keep])
    said = []
    search_suite(path, say=said.append)
    assert said == [f"{path / 'search.jsonl'}: the last line was cut off by a kill; its task is searched again"]
    assert counted == [1]
    assert contents(path) == contents(searched)


def test_a_document_that_was_not_written_before_the_kill_is_written(searched, path, counted):
    shutil.copy(searched / "search.jsonl", path)
    search_suite(path)
    assert counted == []
    assert contents(path) == contents(searched)


def test_lines_that_are_no_lines_of_this_search_are_refused(searched, path, unsearched):
    log = path / "search.jsonl"
    first, second = (searched / "search.jsonl").read_bytes().splitlines(keepends=True)
    other = json.dumps({**json.loads(first), "digest": "0" * 64}).encode() + b"\n"
    cases = {
        "line 1: expected a line of this suite": other,
        "line 2: expected a line of this suite": first + first,
        "line 3: expected a line of this suite": first + second + second,
        "line 2: expected JSON": first + b"{\n" + second,
        "line 1: expected a line of this suite: digest: expected": b"[]\n",
    }
    for message, data in cases.items():
        log.write_bytes(data)
        with pytest.raises(ValueError) as caught:
            search_suite(path)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
        assert log.read_bytes() == data
    assert (path / "suite.json").read_bytes() == (unsearched / "suite.json").read_bytes()


def test_another_kind_of_search_is_another_search(searched, tmp_path):
    path = shutil.copytree(searched, tmp_path / "tiny")
    with pytest.raises(ValueError, match="line 1: expected a line of this suite"):
        search_suite(path, wide=False)
    assert contents(path) == contents(searched)


def test_reference_only_finds_the_same_references(searched, path):
    document = search_suite(path, wide=False)
    for row, wide in zip(document["tasks"], folder.read_document(searched)["tasks"], strict=True):
        assert row["reference"] == row["shortest"] == wide["reference"]
        assert row["lower_bound"] == 1


def test_a_task_that_cannot_be_searched_is_named_and_the_rest_is_kept(path, monkeypatch):
    find, calls = collection.find_reference, []

    def failing(ground, sequence, **options):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("reversed start: IoU after its replay: expected at least 0.9, got 0.5")
        return find(ground, sequence, **options)

    monkeypatch.setattr(collection, "find_reference", failing)
    task = folder.read_document(path)["tasks"][1]["id"]
    with pytest.raises(ValueError, match=rf"^suite tiny: task {task}: reversed start: IoU after its replay: "):
        search_suite(path)
    assert (path / "search.jsonl").read_bytes().count(b"\n") == 1
