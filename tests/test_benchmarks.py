"""The harness on tiny work: rows, parity, tables. No time is asserted."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks import inputs, rows
from benchmarks.machine import describe
from benchmarks.questions import LONG, NAMES, pictures
from benchmarks.questions.exact_mask import cases
from benchmarks.report import readme
from benchmarks.turns import ParityError, Subject, measure

FACTS = {**describe(), "started": "2026-01-01T00:00:00+00:00", "quick": True}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return inputs.make_inputs(tmp_path_factory.mktemp("bench"), None, count=1, quick=True)


@pytest.fixture(scope="module")
def measured(work):
    case = cases(work, quick=True)[0]
    absent = Subject("Absent", "benchmarks.peers.absent:masks", peer=True)
    greedy = Subject("Many cores", "benchmarks.peers.absent:masks", cores=10_000)
    ours, peer = case.subjects[0], next(s for s in case.subjects if s.peer)
    subjects = (ours, peer, absent, greedy)
    assert [s.name for s in subjects[:2]] == ["rotajax.splat", "NumPy + OpenCV"]
    return measure(replace(case, subjects=subjects, runs=2), work, FACTS)


def test_a_row_has_every_key(measured, tmp_path):
    rows.write_rows(tmp_path / "results" / "a.jsonl", measured)
    read = [json.loads(line) for line in (tmp_path / "results" / "a.jsonl").read_text().splitlines()]
    assert [row["subject"] for row in read] == ["rotajax.splat", "NumPy + OpenCV", "Absent", "Many cores"]
    for row in read[:2]:
        assert set(rows.KEYS) <= set(row)
        assert 0 < row["spread_s"][0] <= row["median_s"] <= row["spread_s"][1]
        assert row["runs"] == 2
        assert row["threads"] == 1
        assert 20 < row["peak_mib"] < 4096
        assert row["device"] == "cpu"
    ours, peer, absent, greedy = read
    assert peer["ratio_to_best_peer"] == 1
    assert ours["ratio_to_best_peer"] == pytest.approx(peer["median_s"] / ours["median_s"], rel=1e-3)
    assert absent["median_s"] is None
    assert "not installed" in absent["note"]
    assert "needs 10000 cores" in greedy["note"]


def test_the_tables_are_made_from_the_rows(measured):
    text = readme(measured)
    assert "## Exact mask" in text
    assert "## Oracle" not in text
    assert "| NumPy + OpenCV (peer) |" in text
    assert f"commit {FACTS['commit']}" in text
    assert FACTS["machine"] in text
    tables = [line for line in text.splitlines() if line.startswith("| rotajax.splat |")]
    assert f"{1e3 * measured[0]['median_s']:.3g}"[:3] in tables[0]


def test_the_newest_rows_of_every_question_are_kept(tmp_path):
    def row(question, started):
        return {**dict.fromkeys(rows.KEYS), "question": question, "started": started}

    rows.write_rows(tmp_path / "a.jsonl", [row("x", "2026-01-01"), row("y", "2026-01-01")])
    rows.write_rows(tmp_path / "b.jsonl", [row("x", "2026-01-02")])
    assert {(r["question"], r["started"]) for r in rows.read_rows(tmp_path)} == {
        ("x", "2026-01-02"),
        ("y", "2026-01-01"),
    }


def test_a_row_without_a_key_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"expected the keys .* got none of .*median_s"):
        rows.write_rows(tmp_path / "a.jsonl", [{"question": "x"}])


def test_pictures_that_differ_stop_the_run():
    mask = np.zeros((1, 2, 320, 320), np.bool_)
    mask[..., 100:200, 100:200] = True
    other = mask.copy()
    other[0, 1, 0, :4] = True
    results = {pictures.EXACT: {"result": mask}, "peer": {"result": other}}
    pictures.same_pictures(results)
    other[0, 1, 0, 4] = True
    with pytest.raises(ParityError, match="peer: expected at most 4 pixels of a mask to differ, got 5"):
        pictures.same_pictures(results)


def test_a_subject_that_fails_is_named(work):
    case = replace(cases(work, quick=True)[0], subjects=(Subject("broken", "math:nothing"),))
    with pytest.raises(RuntimeError, match=r"subject 'broken' ended:[\s\S]*AttributeError"):
        measure(case, work, FACTS)


def test_every_question_is_a_module_with_cases(work):
    from importlib import import_module

    for name in (*NAMES, *LONG):
        for case in import_module(f"benchmarks.questions.{name}").cases(work, quick=True):
            assert case.runs >= 5
            for subject in case.subjects:
                module, function = subject.make.split(":")
                assert callable(getattr(import_module(module), function))
