import errno
import json
import os

import numpy as np
import pytest

from rotajax.env.rollout import Episodes
from rotajax.records import OUTCOMES, EpisodeKey, episode_lines, open_run, read_run
from runs import ASKED, decisions, episode, raw, three_episodes, write_run


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run")


def test_columns_hold_what_was_written(run):
    read = read_run(run)
    assert (read.tasks, read.policies, read.notes) == (("a", "b"), ("p",), ())
    assert read.meta["asked"] == ASKED
    assert set(read.meta["versions"]) == {"rotajax", "jax", "jaxlib", "numpy"}
    assert [OUTCOMES[o] for o in read.episodes.outcome] == ["success", "stop", "limit"]
    assert read.episodes.decisions.tolist() == [1, 3, 2]
    assert read.episodes.steps.tolist() == [1, 2, 2]
    assert read.episodes.first.tolist() == [0, 1, 4]
    assert read.decisions.episode.tolist() == [0, 1, 1, 1, 2, 2]
    assert read.decisions.t.tolist() == [0, 0, 1, 2, 0, 1]
    assert read.decisions.action[3] == 24
    line = three_episodes()[6]  # b, t = 0
    for name in ("iou_before", "iou_after", "pose_error_before", "pose_error_after"):
        assert getattr(read.decisions, name)[4] == np.float32(line[name])
    assert read.decisions.rotation[4].ravel().tolist() == np.float32(line["rotation"]).tolist()


def test_floats_of_episodes_read_back_as_the_same_float32(tmp_path):
    rng = np.random.default_rng(0)
    batch, steps = 3, 48
    played = Episodes(
        action=rng.integers(0, 24, (batch, steps)).astype(np.int32),
        iou=rng.random((batch, steps + 1), np.float32),
        pose_error=(180 * rng.random((batch, steps + 1))).astype(np.float32) ** 3 / 32400,
        rotation=(rng.random((batch, steps + 1, 3, 3)) ** 9 - 0.5).astype(np.float32),
        decisions=np.array([48, 7, 0], np.int32),
        steps=np.array([48, 7, 0], np.int32),
        outcome=np.array([3, 4, 1], np.int32),
    )
    lines = episode_lines(played, ["x", "y", "z"], policy="p", seed=5)
    read = read_run(write_run(tmp_path / "run", lines))
    assert read.episodes.decisions.tolist() == [48, 7, 0]
    assert read.episodes.seed.tolist() == [5, 5, 5]
    assert (read.decisions.action[48:] == played.action[1, :7]).all()
    assert (read.decisions.iou_after[:48] == played.iou[0, 1:]).all()
    assert (read.decisions.pose_error_before[48:] == played.pose_error[1, :7]).all()
    assert (read.decisions.rotation[:48] == played.rotation[0, :48]).all()
    assert read.episodes.final_iou.tolist() == [played.iou[0, 48], played.iou[1, 7], played.iou[2, 0]]
    assert lines[-1]["final_rotation"] == [float(str(v)) for v in played.rotation[2, 0].ravel()]


def test_the_same_request_goes_on(run):
    with open_run(run, ASKED, device="none") as writer:
        assert writer.done == {EpisodeKey("a", "p", 0), EpisodeKey("a", "p", 1), EpisodeKey("b", "p", 0)}
        writer.append(episode("b", 1, np.eye(3), [("STOP", 0)], [0.2, 0.2], "stop"))
        assert EpisodeKey("b", "p", 1) in writer.done
    assert len(read_run(run).episodes) == 4
    assert len(read_run(run).meta["resumed"]) == 1


def test_opening_a_finished_run_changes_nothing(run):
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    open_run(run, ASKED, device="none").close()
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before


@pytest.mark.parametrize("change", [{"seeds": [0]}, {"suite": {"id": "other"}}, {"new": 1}])
def test_a_folder_of_another_run_is_refused_and_kept(run, change):
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    with pytest.raises(ValueError, match=f"belongs to another run: {next(iter(change))}: expected"):
        open_run(run, ASKED | change, device="none")
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before


def test_a_folder_of_something_else_and_a_file_are_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"without run\.json that holds \['thesis.txt'\]"):
        open_run(tmp_path, ASKED, device="none")
    with pytest.raises(ValueError, match="run: expected a folder, got a file"):
        open_run(tmp_path / "thesis.txt", ASKED, device="none")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("cut", [1, 40, 300])
def test_a_torn_end_is_cut_off_and_said(run, cut):
    file = run / "episodes.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    read = read_run(run)
    assert read.episodes.task.tolist() == [0, 0]
    assert any("torn" in note for note in read.notes)
    assert any("1 unfinished episodes were left out" in note for note in read.notes)
    with open_run(run, ASKED, device="none") as writer:
        assert len(writer.done) == 2
        assert any("torn" in note for note in writer.notes)
        assert file.read_bytes() == raw_prefix(whole, 2)
        writer.append(three_episodes()[-3:])
    assert file.read_bytes() == whole


def raw_prefix(whole, episodes):
    """The bytes up to the end of so many episodes."""
    end = 0
    for _ in range(episodes):
        end = whole.index(b"\n", whole.index(b'"kind":"episode"', end)) + 1
    return whole[:end]


def test_interleaved_unfinished_decisions_are_dropped(run):
    file = run / "episodes.jsonl"
    whole = file.read_bytes()
    other, _ = decisions("c", 0, np.eye(3), [("YAW_POS", 1), ("YAW_POS", 5)], [0.9, 0.8, 0.7])
    first, rest = whole.split(b"\n", 1)
    file.write_bytes(raw(other[:1]) + first + b"\n" + raw(other[1:]) + rest)
    assert len(read_run(run).decisions) == 6
    open_run(run, ASKED, device="none").close()
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line[:-9] + b"\n", "expected JSON"),
        (lambda line: b"\xff\xfe\n", "expected UTF-8"),
        (lambda line: b"\n", "expected JSON"),
        (lambda line: b"[1]\n", "kind: expected decision or episode, got list"),
        (lambda line: line.replace(b'"iou_after":0.4', b'"iou_after":NaN'), "expected finite numbers, got NaN"),
        (lambda line: line.replace(b'"iou_after":0.4', b'"iou_after":"x"'), "expected numbers"),
        (lambda line: line.replace(b"YAW_NEG", b"SIDEWAYS"), "one of the 24 rotations or STOP"),
        (lambda line: line.replace(b'"t":0', b'"t":7'), "expected t = 0, got 7"),
        (lambda line: line.replace(b'"angle":30,', b""), "expected a key 'angle', got none"),
        (lambda line: line.replace(b'"rotation":[', b'"rotation":[1,'), "expected 9 numbers, got 10"),
        (lambda line: line.replace(b'"rotation":[', b'"rotation":7,"x":['), "line 3"),
        (lambda line: b"[" * 100_000 + b"\n", "expected JSON"),
        (
            lambda line: line.replace(b'"iou_after":0.4', b'"iou_after":1e999'),
            "expected numbers of at most",
        ),
        (lambda line: line.replace(b'"iou_after":0.4', b'"iou_after":1' + b"0" * 400), "expected numbers of at most"),
        (lambda line: line.replace(b'"seed":1', b'"seed":1' + b"0" * 30), "two texts and 0 to 4294967295"),
    ],
)
def test_a_damaged_middle_line_is_refused_with_its_number(run, damage, message):
    file = run / "episodes.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[2] = damage(lines[2])
    file.write_bytes(b"".join(lines))
    before = file.read_bytes()
    for use in (read_run, lambda path: open_run(path, ASKED, device="none")):
        with pytest.raises(ValueError, match="line 3: ") as caught:
            use(run)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
    assert file.read_bytes() == before


def test_duplicates_and_wrong_counts_are_refused(tmp_path):
    lines = three_episodes()
    cases = [
        (lines[:2] + lines[1:2], "line 3: episode of p on a, seed 0: expected one, got a duplicate"),
        (lines[:1] * 2, "line 2: decision of p on a, seed 0: expected t = 1, got 0"),
        (lines[:2] + lines[:1], "line 3: decision of p on a, seed 0: expected none after the episode ended"),
        (lines[1:2], "line 1: episode of p on a, seed 0: steps: expected 0, as many as its rotations, got 1"),
        ([lines[0], lines[1] | {"outcome": "won"}], "line 2: episode of p on a, seed 0: outcome: expected one of"),
    ]
    for number, (bad, message) in enumerate(cases):
        with pytest.raises(ValueError, match="line") as caught:
            read_run(write_run(tmp_path / str(number), bad))
        assert message in str(caught.value)


def test_not_a_run_is_named(tmp_path):
    with pytest.raises(ValueError, match="expected a run folder, got nothing at"):
        read_run(tmp_path / "none")
    with pytest.raises(ValueError, match=r"expected a file run\.json in it, got none"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": "rotajax.run/9"}))
    with pytest.raises(ValueError, match=r"format: expected rotajax.run/1, got 'rotajax.run/9'"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match="expected JSON in UTF-8"):
        read_run(tmp_path)


def test_a_full_disk_leaves_whole_episodes(run, monkeypatch):
    file = run / "episodes.jsonl"
    before = file.read_bytes()
    write = os.write

    def full(handle, data):
        if len(data) < 600:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[: len(data) // 2])

    with open_run(run, ASKED, device="none") as writer:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="the episodes before it are kept") as caught:
            writer.append([line | {"seed": 9} for line in three_episodes()])
        assert caught.value.filename == str(run)
        monkeypatch.undo()
    assert file.read_bytes() == before


def test_two_writers_of_one_folder_are_refused(run):
    with open_run(run, ASKED, device="none"), pytest.raises(ValueError, match="nobody writes"):
        open_run(run, ASKED, device="none")


def test_going_on_with_a_run_that_does_not_say_its_versions(run):
    meta = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({key: meta[key] for key in ("format", "asked")}))
    open_run(run, ASKED, device="none").close()
    (run / "run.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="expected JSON in UTF-8"):
        open_run(run, ASKED, device="none")
