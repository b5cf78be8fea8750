import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from reference import rotation
from rotajax.analysis import attach, load
from rotajax.analysis.replay import replay_faults, require_replays
from rotajax.compare import iou
from rotajax.records import open_run, read_run
from rotajax.render.splat import splat
from rotajax.tasks import folder
from rotajax.tasks.suite import load_suite
from runs import ASKED, episode, raw, three_episodes, write_run
from suites import write_tiny_suite

GROUPS = dict.fromkeys("ab", np.eye(3, dtype=np.float32)[None])
MOVES = [("YAW_NEG", 30), ("PITCH_POS", 5), ("STOP", 0)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A suite folder, its document, and the IoUs of MOVES on its first task."""
    path = write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")
    suite = load_suite(path)
    draw = jax.jit(splat)
    solid, pose = suite[0].solid, np.asarray(suite[0].start)
    target = draw(solid, np.eye(3, dtype=np.float32))
    ious = []
    for direction, angle in [("YAW_NEG", 0), *MOVES[:2]]:
        pose = (rotation.matrix(direction, angle) @ pose).astype(np.float32)
        ious.append(float(iou(draw(solid, pose), target)))
    return SimpleNamespace(path=path, suite=suite, document=folder.read_document(path), ious=[*ious, ious[-1]])


def write(path, lines, document, **changed):
    suite = {key: document[key] for key in ("id", "version", "sha256")}
    with open_run(path, ASKED | {"suite": suite | changed}, device="none") as writer:
        writer.append(lines)
    return path


def honest(tiny, ious=None):
    return episode(tiny.suite.ids[0], 0, np.asarray(tiny.suite[0].start), MOVES, ious or tiny.ious, "stop")


def test_a_run_of_a_suite_folder(tmp_path, tiny):
    found = load(write(tmp_path / "run", honest(tiny), tiny.document), tiny.path, draw=100)
    assert found.identity["sha256"] == tiny.document["sha256"]
    assert found["p"].steps.angle.tolist() == [30, 5]
    assert (found["p"].groups[0] == np.asarray(tiny.suite[0].group)).all()
    assert found.suite.ids == tiny.suite.ids
    with pytest.raises(ValueError, match="policy: expected one of p, got 'q'"):
        found["q"]


def test_ious_that_are_not_those_of_the_pictures(tmp_path, tiny):
    # From 0.3 on: the IoU at one state is changed, before it and after it alike, so that only a picture can tell.
    ious = [tiny.ious[0], tiny.ious[1] + 0.01, *tiny.ious[2:]]
    path = write(tmp_path / "run", honest(tiny, ious), tiny.document)
    load(path, tiny.path)
    with pytest.raises(ValueError, match=r"p on single_00000, seed 0, t = 1: IoU: expected 0\.\d+, as drawn, got"):
        load(path, tiny.path, draw=100)


def test_another_suite_is_refused(tmp_path, tiny):
    path = write(tmp_path / "other", honest(tiny), tiny.document, sha256="f" * 64)
    with pytest.raises(ValueError, match="suite: expected tiny version 1, sha256 ffffffffffff, got tiny"):
        load(path, tiny.path)
    with pytest.raises(ValueError, match="suite tiny: expected its folder to be given, got none"):
        load(write(tmp_path / "run", honest(tiny), tiny.document))
    with pytest.raises(ValueError, match=r"tasks: expected tasks of the suite, got \['a'\]"):
        load(write(tmp_path / "strange", three_episodes(), tiny.document), tiny.path)
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "run.json").write_text(json.dumps({"format": "rotajax.run/0", "asked": {}}))
    with pytest.raises(ValueError, match=r"format: expected rotajax\.run/1, got 'rotajax.run/0'"):
        load(tmp_path / "older", tiny.path)


def test_another_start_than_the_suites_is_named(tmp_path, tiny):
    lines = episode(tiny.suite.ids[0], 0, np.asarray(tiny.suite[1].start), MOVES, tiny.ious, "stop")
    path = write(tmp_path / "run", lines, tiny.document)
    with pytest.raises(ValueError, match="t = 0: pose: expected the start of the task, got one off by"):
        load(path, tiny.path)
    assert len(load(path, tiny.path, check=False)["p"].steps) == 2


def test_an_empty_run_and_a_torn_line(tmp_path):
    with pytest.raises(ValueError, match="at least one finished episode, got none"):
        attach(read_run(write_run(tmp_path / "empty", [])), GROUPS)
    path = write_run(tmp_path / "torn")
    file = path / "episodes.jsonl"
    file.write_bytes(file.read_bytes() + raw(three_episodes()[:1])[:40])
    found = attach(read_run(path), GROUPS)
    assert len(found["p"].episodes) == 3
    assert "its last line was torn (40 bytes cut off)" in found.run.notes[0]


def test_honest_runs_have_no_faults(tmp_path):
    # Also a long one in float32, one without a decision and one of STOP alone.
    rng = np.random.default_rng(0)
    moves = [("YAW_POS", 30), ("PITCH_NEG", 5), ("ROLL_POS", 10)]
    moves = [moves[k] for k in rng.integers(0, 3, 48)]
    lines = three_episodes() + episode("b", 1, rotation.matrix("YAW_POS", 100), moves, [0.5] * 49, "limit")
    lines += episode("b", 2, np.eye(3), [("STOP", 0)], [0.5, 0.5], "stop")
    lines += episode("b", 3, np.eye(3), [], [1.0], "success")
    for line in lines:
        if "rotation" in line:
            line["rotation"] = [round(value, 6) for value in line["rotation"]]
    assert list(replay_faults(read_run(write_run(tmp_path / "run", lines)), GROUPS)) == []


def change(line, **fields):
    line |= fields


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda x: change(x[3], rotation=x[2]["rotation"]), "t = 1: pose: expected the one that the decision before"),
        (lambda x: change(x[2], action="YAW_POS"), "t = 1: pose: expected the one that the decision before leads to"),
        (lambda x: change(x[2], pose_error_before=12.1), "t = 0: pose_error_before: expected the error of the pose"),
        (lambda x: change(x[1], final_rotation=[1, 0, 0, 0, 1, 0, 0, 0, 1]), "t = 0: final_rotation: expected"),
        (
            lambda x: change(x[2], iou_after=0.41),
            "t = 0: iou_after: expected that of the state it leads to",
        ),
        (
            lambda x: change(x[1], final_iou=0.96),
            "t = 0: iou_after: expected that of the state it leads to",
        ),
        (lambda x: change(x[5], final_pose_error=22.9), "t = 2: pose_error_after: expected that of the state it leads"),
        (lambda x: change(x[2], iou_before=1.5), "t = 0: IoU: expected 0 to 1, got one off by 0.5"),
        (lambda x: change(x[8], outcome="stop"), "t = 1: STOP: expected the last decision, and the end of a stop, got"),
        (
            lambda x: change(x[8], outcome="success"),
            "t = 1: outcome: expected no success below an IoU of 0.9, got succ",
        ),
        (lambda x: change(x[1], outcome="limit"), "t = 0: outcome: expected success, got limit"),
    ],
)
def test_what_does_not_follow_is_named(tmp_path, damage, message):
    lines = three_episodes()
    damage(lines)
    run = read_run(write_run(tmp_path / "run", lines))
    with pytest.raises(ValueError, match=r"not to be trusted\)") as caught:
        require_replays(run, GROUPS)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_decisions_after_a_stop_are_named(tmp_path):
    moves = [("STOP", 0), ("YAW_NEG", 10)]
    lines = episode("a", 0, rotation.matrix("YAW_POS", 12), moves, [0.5, 0.5, 0.6], "limit")
    with pytest.raises(ValueError, match="t = 0: STOP: expected the last decision"):
        require_replays(read_run(write_run(tmp_path / "run", lines)), GROUPS)
