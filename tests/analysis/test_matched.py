from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from reference import rotation
from rotajax.analysis import attach, differences, match, matched_states
from rotajax.analysis.states import SAME_POSE_DEG, exact_poses, state_numbers
from rotajax.records import read_run
from runs import episode, write_run

NO_SYMMETRY = np.eye(3, dtype=np.float32)[None]
YAW, PITCH = rotation.matrix("YAW_POS", 40), rotation.matrix("PITCH_POS", 20)


def back(*angles):
    """Yaw by angles, backwards, with the sign of the number."""
    return [("YAW_NEG" if angle > 0 else "YAW_POS", abs(angle)) for angle in angles]


def method_pair(tmp_path, lines):
    run = attach(read_run(write_run(tmp_path / "run", lines)), {"a": NO_SYMMETRY, "b": NO_SYMMETRY})
    return run["p"], run["q"]


@pytest.fixture
def pair(tmp_path):
    """P plays a three times and b once, q each once."""
    lines = [
        # 40, then 10: matched; 0: not visited by q.
        *episode("a", 0, YAW, back(30, 10, 1), [0.5, 0.7, 0.8, 0.8], "limit"),
        # 40, 30: matched; 40 again: the start, no match; 30 again: a repeated visit.
        *episode("a", 1, YAW, back(10, -10, 10, 5), [0.5, 0.4, 0.5, 0.4, 0.3], "limit"),
        # 10: matched too, with the same action of q.
        *episode("a", 2, YAW, back(30, 30), [0.5, 0.7, 0.6], "limit"),
        *episode("b", 0, PITCH, [("PITCH_NEG", 10), ("PITCH_NEG", 10)], [0.2, 0.3, 0.5], "limit"),
        # 40, 30, 20, 10: first visit at t = 3; 20, 10 again.
        *episode(
            "a", 0, YAW, back(10, 10, 10, -10, 10, 10), [0.5, 0.4, 0.6, 0.7, 0.6, 0.7, 0.9], "success", policy="q"
        ),
        # 20, 19 (no match), 10: by another way, past the start of the other axis.
        *episode(
            "b",
            0,
            PITCH,
            [("PITCH_NEG", 5), ("PITCH_NEG", 5), ("YAW_NEG", 1)],
            [0.2, 0.2, 0.3, 0.3],
            "limit",
            policy="q",
        ),
    ]
    return method_pair(tmp_path, lines)


def test_first_visits_of_the_same_pose_are_pairs(pair):
    first, second = pair
    pairs = match(first, second)
    places = [
        (first.tasks[first.steps.task[row]], first.episodes.seed[first.steps.episode[row]]) for row in pairs.first
    ]
    assert places == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert first.steps.t[pairs.first].tolist() == [1, 1, 1, 1]
    assert second.steps.t[pairs.second].tolist() == [3, 1, 3, 2]
    assert [pairs.tasks[task] for task in pairs.task] == ["a", "a", "a", "b"]


def test_the_table_of_matched_states(pair):
    # p: back by 10 from 10 (0.7 -> 0.8, UC, 10); on by 10 from 30 (0.4 -> 0.5, 30 -> 40, UF, -10);
    #    by 30 from 10 (0.7 -> 0.6, 10 -> 20, DF, -10); pitch by 10 from 10 (0.3 -> 0.5, UC, 10).
    # q: on by 10 from 10 (0.7 -> 0.6, DF, -10), twice; by 10 from 30 (0.4 -> 0.6, UC, 10);
    #    yaw by 1 from pitch 10 (0.3 -> 0.3, neutral, further by 0.05).
    coverage = tuple(np.arange(len(method.steps), dtype=np.float64) for method in pair)
    rows = matched_states(*pair, coverage=coverage)
    assert [row["policy"] for row in rows] == ["p", "q", "difference"]
    assert {(row["pairs"], row["tasks"]) for row in rows} == {(4, 2)}
    assert [row["prior_rotations"] for row in rows] == [1, (3 + 1 + 3 + 2) / 4, 1 - 9 / 4]
    assert rows[0]["iou_change"] == pytest.approx((0.1 + 0.1 - 0.1 + 0.2) / 4)
    assert rows[1]["iou_change"] == pytest.approx((-0.1 + 0.2 - 0.1 + 0) / 4, abs=1e-6)
    classes = ("UC", "DC", "UF", "DF", "neutral")
    assert [rows[0][f"{name}_pct"] for name in classes] == [50, 0, 25, 25, 0]
    assert [rows[1][f"{name}_pct"] for name in classes] == [25, 0, 0, 50, 25]
    assert rows[2]["DF_pct"] == -25
    assert rows[0]["pose_reduction_deg"] == pytest.approx(0, abs=1e-5)
    away = np.degrees(2 * np.arccos(np.cos(np.radians(5)) * np.cos(np.radians(0.5)))) - 10
    assert rows[1]["pose_reduction_deg"] == pytest.approx((-10 + 10 - 10 - away) / 4, abs=1e-5)
    assert rows[0]["prior_coverage_pct"] == np.mean([1, 4, 8, 10])
    # a twice and b twice are the ends: 3 pairs of a share their draw.
    assert rows[0]["UC_pct_ci95"] == pytest.approx([100 / 3, 100])
    assert rows[2]["DF_pct_ci95"] == pytest.approx([-100 / 3, 0])
    assert matched_states(*pair)[0]["prior_coverage_pct_ci95_reason"] == "not measured"


def test_without_a_common_state_there_is_a_reason(tmp_path):
    lines = [
        *episode("a", 0, YAW, back(30, 10), [0.5, 0.7, 0.95], "success"),
        *episode("a", 0, YAW, back(10, 10), [0.5, 0.4, 0.6], "limit", policy="q"),
    ]
    rows = matched_states(*method_pair(tmp_path, lines))
    assert (rows[0]["pairs"], rows[0]["UC_pct"], rows[2]["UC_pct"]) == (0, None, None)
    assert rows[2]["UC_pct_ci95_reason"] == "nothing to average"


def test_states_are_found_whatever_the_noise_and_the_way(tmp_path):
    # Long ways out and back in float32: the recorded poses differ, the states do not.
    rng = np.random.default_rng(1)
    out = [(rotation.DIRECTIONS[d], int(rotation.ANGLES[k])) for d, k in rng.integers(0, (6, 4), (12, 2))]
    undone = [(rotation.DIRECTIONS[rotation.DIRECTIONS.index(d) ^ 1], k) for d, k in out[::-1]]
    lines = episode("a", 0, YAW, [*out, *undone, ("ROLL_POS", 1)], [0.5] * 26, "limit")
    first = attach(read_run(write_run(tmp_path / "run", lines)), {"a": NO_SYMMETRY})["p"]
    (states,) = state_numbers([first], [np.array([0])])
    assert (states[:13] == states[12:][::-1]).all()
    assert len(set(states.tolist())) == 13
    apart = Rotation.from_matrix(first.steps.rotation[:13].astype(np.float64))
    between = np.degrees((apart[:-1].inv() * apart[1:]).magnitude())
    assert (between > SAME_POSE_DEG).all()
    exact = Rotation.from_quat(exact_poses(first.steps), scalar_first=True)
    recorded = Rotation.from_matrix(first.steps.rotation.astype(np.float64))
    assert np.degrees((exact.inv() * recorded).magnitude()).max() < 1e-4


def test_differences_are_of_common_tasks(pair):
    rows = {row["metric"]: row for row in differences(*pair)}
    assert rows["final_iou"]["first"] == pytest.approx(((0.8 + 0.3 + 0.6) / 3 + 0.5) / 2)
    assert rows["final_iou"]["difference"] == pytest.approx(((0.8 + 0.3 + 0.6) / 3 + 0.5) / 2 - (0.9 + 0.3) / 2)
    # Of task a alone -1/3, of task b alone 0.2.
    assert rows["final_iou"]["difference_ci95"] == pytest.approx([(0.8 + 0.3 + 0.6) / 3 - 0.9, 0.2])
    assert rows["success_pct"]["difference"] == -50
    assert rows["success_pct"]["difference_ci95"] == [-100, 0]
    assert "coverage_pct" not in rows
    covered = differences(*pair, coverage=(np.array([10.0, 20, 30, 50]), np.array([30.0, 70])))
    assert {row["metric"]: row["difference"] for row in covered}["coverage_pct"] == (20 + 50) / 2 - 50


def test_methods_of_different_suites_or_tasks_are_refused(tmp_path, pair):
    lines = episode("c", 0, YAW, back(30), [0.5, 0.7], "limit")
    other = attach(read_run(write_run(tmp_path / "other", lines)), {"c": NO_SYMMETRY})["p"]
    with pytest.raises(ValueError, match="expected tasks in common, got none"):
        match(pair[0], other)
    foreign = replace(pair[1], suite={"id": "hand", "version": 1, "sha256": "1" * 64})
    with pytest.raises(ValueError, match="suite: expected 000000000000, got 111111111111"):
        differences(pair[0], foreign)
