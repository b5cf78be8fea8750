"""Every table and figure of three short episodes, worked out by hand in the comments.

The rotations, all about one axis, so that the pose error is the angle left:
      task seed  turn       IoU          error    best of 1, 5, 10, 30   class
  1   a    0     yaw  -30   0.5 -> 0.7   40 -> 10  30                    UC
  2   a    0     yaw  -10   0.7 -> 0.95  10 -> 0   10                    UC; success
  3   a    1     yaw  -30   0.5 -> 0.7   40 -> 10  30                    UC
  4   a    1     yaw  -30   0.7 -> 0.6   10 -> 20  10: gap 20, loss 20   DF; then STOP
  5   b    0     pitch -10  0.6 -> 0.6   20 -> 10  10 and 30             neutral
  6   b    0     pitch +5   0.6 -> 0.65  10 -> 15  none: away            UF; limit
"""

import math

import numpy as np
import pytest

from reference import rotation
from rotajax import analysis
from rotajax.analysis import retries
from rotajax.analysis.decomposition import TOLERANCE_DEG
from rotajax.analysis.divergence import CLASSES, divergence, of_steps
from rotajax.records import read_run
from runs import episode, write_run

NO_SYMMETRY = np.eye(3, dtype=np.float32)[None]
GROUPS = {"a": NO_SYMMETRY, "b": NO_SYMMETRY}
RETRIES = (0, 3, 0, 0, 7, 1, 2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    yaw, pitch = rotation.matrix("YAW_POS", 40), rotation.matrix("PITCH_POS", 20)
    lines = [
        *episode("a", 0, yaw, [("YAW_NEG", 30), ("YAW_NEG", 10)], [0.5, 0.7, 0.95], "success"),
        *episode("a", 1, yaw, [("YAW_NEG", 30), ("YAW_NEG", 30), ("STOP", 0)], [0.5, 0.7, 0.6, 0.6], "stop"),
        *episode("b", 0, pitch, [("PITCH_NEG", 10), ("PITCH_POS", 5)], [0.6, 0.6, 0.65], "limit"),
    ]
    taken = (line for line in lines if line["kind"] == "decision")
    for line, number in zip(taken, RETRIES, strict=True):
        line["retries"] = number
    return read_run(write_run(tmp_path_factory.mktemp("hand") / "run", lines))


@pytest.fixture(scope="module")
def method(run):
    return analysis.attach(run, GROUPS)["p"]


def test_steps(method):
    steps = method.steps
    assert method.tasks == ("a", "b")
    assert steps.episode.tolist() == [0, 0, 1, 1, 2, 2]
    assert steps.task.tolist() == [0, 0, 0, 0, 1, 1]
    assert steps.t.tolist() == [0, 1, 0, 1, 0, 1]
    assert steps.angle.tolist() == [30, 10, 30, 30, 10, 5]
    assert steps.error_before == pytest.approx([40, 10, 40, 10, 20, 10], abs=1e-5)
    assert steps.error_after == pytest.approx([10, 0, 10, 20, 10, 15], abs=1e-5)
    assert steps.effective.tolist() == [True, True, True, True, True, False]
    assert steps.best_legal.tolist() == [True, True, True, False, True, False]
    assert steps.improving.tolist() == [True, True, True, False, True, False]
    assert np.nan_to_num(steps.angle_gap, nan=-1).tolist() == [0, 0, 0, 20, 0, -1]
    assert np.nan_to_num(steps.angle_loss, nan=-1) == pytest.approx([0, 0, 0, 20, 0, -1], abs=TOLERANCE_DEG)
    assert method.episodes.first.tolist() == [0, 2, 4]


def test_outcomes_and_repeats(method):
    row = analysis.outcomes(method)
    assert [row[name] for name in ("success", "stagnation", "stop", "limit", "error")] == [1, 0, 1, 1, 0]
    assert row["success_pct"] == pytest.approx(100 / 3)
    # Of the pairs (1,2), (3,4), (5,6) the second is the same rotation again.
    assert (row["repeat_pairs"], row["repeat_pct"]) == (3, pytest.approx(100 / 3))
    assert row["success_pct_ci95"] == [0, 50]  # b twice; a twice
    assert row["repeat_pct_ci95"] == [0, 50]
    assert (row["error_pct_ci95"], row["error_pct_ci95_reason"]) == (None, "no variation between tasks")


def test_retries(run):
    (row,) = retries(run)  # 0, 3, 0, 0, 7, 1, 2, the STOP's among them
    assert (row["actions"], row["most"]) == (7, 7)
    within = [row[f"within_{most}_pct"] for most in (0, 2, 6)]
    assert within == pytest.approx([300 / 7, 500 / 7, 600 / 7])


def test_angles(method):
    row = analysis.angles(method)
    assert [row[f"angle_{angle}"] for angle in (1, 5, 10, 30)] == [0, 1, 2, 3]
    assert row["angle_10_pct"] == pytest.approx(100 / 3)
    assert row["angle_30_pct_ci95"] == [0, 75]  # 0 of 2 in b, 3 of 4 in a


def test_curve(method):
    curve = analysis.iou_curve(method)
    assert curve.mean[:3] == pytest.approx([(0.5 + 0.6) / 2, (0.7 + 0.6) / 2, ((0.95 + 0.6) / 2 + 0.65) / 2])
    assert curve.mean[3:] == pytest.approx(curve.mean[2])
    assert len(curve.mean) == 49
    assert curve.intervals[0].ends == pytest.approx([0.5, 0.6])


def test_ties_of_best_actions_have_a_reason_not_a_zero_width(tmp_path):
    # From 20 degrees a turn of 30 leaves what one of 10 leaves, but for the rounding of the pose.
    lines = [
        line
        for task, turn, back in (("a", "YAW_POS", "YAW_NEG"), ("b", "PITCH_POS", "PITCH_NEG"))
        for line in episode(task, 0, rotation.matrix(turn, 20), [(back, 30), (turn, 10)], [0.5, 0.7, 0.95], "success")
    ]
    greedy = analysis.attach(read_run(write_run(tmp_path / "run", lines)), GROUPS)["p"]
    rows = {row["oracle"]: row for row in analysis.oracles(greedy)}
    for name in ("best_direction", "best_angle", "joint"):
        assert rows[name]["improvement_deg"] == pytest.approx(0, abs=TOLERANCE_DEG)
        assert rows[name]["improvement_deg_ci95"] is None
        assert rows[name]["improvement_deg_ci95_reason"] == "no variation between tasks"


def test_a_curve_says_where_its_tasks_do_not_vary(tmp_path):
    lines = [
        line
        for task, after in (("a", 0.7), ("b", 0.9))
        for line in episode(task, 0, rotation.matrix("YAW_POS", 40), [("YAW_NEG", 30)], [0.5, after], "limit")
    ]
    curve = analysis.iou_curve(analysis.attach(read_run(write_run(tmp_path / "run", lines)), GROUPS)["p"])
    assert curve.intervals[0].reason == "no variation between tasks"
    assert curve.intervals[1].ends == pytest.approx([0.7, 0.9])


def test_divergences(method):
    assert [CLASSES[index] for index in of_steps(method)] == ["UC", "UC", "UC", "DF", "neutral", "UF"]
    row = analysis.divergences(method)
    shares = [row[f"{name}_pct"] for name in CLASSES]
    assert shares == pytest.approx([50, 0, 100 / 6, 100 / 6, 100 / 6])
    assert row["UC_pct_ci95"] == [0, 75]


def test_the_neutral_zones_are_those_of_the_paper():
    iou = np.array([2e-6, 9e-7, -2e-6, 2e-6, -2e-6, -9e-7])
    error = np.array([-2e-4, -2e-4, -2e-4, 2e-4, 2e-4, 9e-5])
    assert [CLASSES[k] for k in divergence(iou, error)] == ["UC", "neutral", "DC", "UF", "DF", "neutral"]
    assert CLASSES[divergence(np.array([0.1]), np.array([-9e-5]))[0]] == "neutral"


def test_associations(method):
    # Ranks: angle 5, 2.5, 5, 5, 2.5, 1; IoU 1.5, 5.5, 1.5, 5.5, 3.5, 3.5; error 5.5, 2, 5.5, 2, 4, 2. Their
    # sums of squares about 3.5 are 15, 16, 15; of products with those of the angle -5 and 8.5.
    row = analysis.associations(method)
    iou, pose = -5 / math.sqrt(15 * 16), 8.5 / 15
    assert row["iou_angle_rho"] == pytest.approx(iou)
    assert row["pose_angle_rho"] == pytest.approx(pose)
    assert row["iou_angle_abs"] == pytest.approx(-iou)
    assert row["difference"] == pytest.approx(-iou - pose)
    # b twice (a quarter of the resamples): both IoUs are 0.6. The errors 20, 10 rank as the angles 10, 5 do: 1.
    assert row["iou_angle_rho_ci95"] is None
    assert row["iou_angle_rho_ci95_reason"].startswith("undefined in 2")
    assert row["difference_ci95"] is None
    # a twice: angles 30, 10, 30, 30 and errors 40, 10, 40, 10: 2 / sqrt(3 * 4) = 0.577, above the 0.567 of both.
    assert row["pose_angle_rho_ci95"] == pytest.approx([pose, 1])


def test_oracles(method):
    # Off the axis, a turn by d from an error e leaves 2 acos(cos(e/2) cos(d/2)), more than e.
    def off(error, turn):
        return math.degrees(2 * math.acos(math.cos(math.radians(error / 2)) * math.cos(math.radians(turn / 2))))

    before, taken = [40, 10, 40, 10, 20, 10], [10, 0, 10, 20, 10, 15]
    uniform = [
        np.mean([[abs(e - d), e + d, *[off(e, d)] * 4] for d in (1, 5, 10, 30)]) for e in before
    ]  # fmt: skip
    expected = {
        "actual": taken,
        "uniform_random": uniform,
        "best_direction": [10, 0, 10, 20, 10, 5],  # 6: back by 5
        "best_angle": [10, 0, 10, 0, 10, 11],  # 4: by 10; 6: away by 1
        "joint": [10, 0, 10, 0, 10, 0],
    }
    rows = {row["oracle"]: row for row in analysis.oracles(method)}
    assert rows.keys() == expected.keys()
    for name, errors in expected.items():
        assert rows[name]["states"] == 6
        assert rows[name]["successor_error_deg"] == pytest.approx(np.mean(errors), abs=1e-5)
        assert rows[name]["improvement_deg"] == pytest.approx(np.mean(taken) - np.mean(errors), abs=1e-5)
    # Joint: 0, 0, 0, 20 a state of a, 0, 15 of b.
    assert rows["joint"]["improvement_deg_ci95"] == pytest.approx([5, 7.5], abs=1e-5)
    assert "improvement_deg_ci95" not in rows["actual"]
