import numpy as np
import pytest

from rotajax.analysis import attach, iou_curve
from rotajax.analysis.intervals import RESAMPLES, bootstrap_counts, task_bootstrap, wilson
from rotajax.analysis.summary import METRICS, summarise
from rotajax.records import read_run
from rotajax.reports.curve import draw_curves
from rotajax.reports.paper import PAPER_ROWS
from rotajax.reports.table import markdown_table
from runs import episode, three_episodes, write_run

SUITE = {"id": "hand", "version": 1, "sha256": "0" * 64}
GROUPS = {"a": np.eye(3, dtype=np.float32)[None], "b": np.eye(3, dtype=np.float32)[None]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return read_run(write_run(tmp_path_factory.mktemp("hand") / "run"))


def test_every_figure_of_three_episodes(run):
    # a, seed 0: yaw 12, back by 10 (of 11, 7, 2, 18 the best): 12 -> 2.
    # a, seed 1: yaw 12, back by 30: gap 20, loss 16: 12 -> 18; then further away by 5, not effective: 18 -> 23; STOP.
    # b, seed 0: pitch 20, back by 30, a tie with 10: 20 -> 10; then on by 1 where 10 was best: gap 9, loss 9: 10 -> 9.
    (row,) = summarise(run, SUITE, GROUPS)["rows"]
    assert (row["policy"], row["episodes"], row["tasks"], row["seeds"]) == ("p", 3, 2, 2)
    expected = {
        "success_pct": (50 + 0) / 2,
        "final_iou": ((0.95 + 0.3) / 2 + 0.8) / 2,
        "steps": ((1 + 2) / 2 + 2) / 2,
        "effective_direction_pct": 100 * 4 / 5,
        "best_legal_angle_pct": 100 * 2 / 4,
        "angle_gap_deg": (0 + 20 + 0 + 9) / 4,
        "angle_loss_deg": (0 + 16 + 0 + 9) / 4,
        "final_pose_error_deg": ((2 + 23) / 2 + 9) / 2,
        "pose_improving_pct": 100 * 3 / 5,
        "iou_change_per_step": (0.45 - 0.2 + 0.2) / 5,
        "pose_reduction_per_step_deg": (10 - 11 + 11) / 5,
    }
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, abs=2e-5), name
    assert row["coverage_pct"] is None
    assert row["coverage_pct_ci95"] is None
    assert row["coverage_pct_ci95_reason"] == "not measured"
    # A quarter of the resamples of two tasks is a twice, a quarter b twice: the ends are the tasks themselves.
    ends = {"success_pct": (0, 50), "steps": (1.5, 2)}
    ends |= {"effective_direction_pct": (200 / 3, 100), "angle_gap_deg": (4.5, 10)}
    for name, (low, high) in ends.items():
        assert row[f"{name}_ci95"] == pytest.approx([low, high], abs=2e-5), name
    assert set(METRICS) <= row.keys()


def test_the_same_run_gives_the_same_summary(run):
    assert summarise(run, SUITE, GROUPS) == summarise(run, SUITE, GROUPS)


def test_a_run_without_variation_gives_reasons_not_intervals(tmp_path):
    lines = [line for line in three_episodes() if line["seed"] == 0 and line["task"] == "a"]
    twin = [line | {"task": "b"} for line in lines]
    (row,) = summarise(read_run(write_run(tmp_path / "twins", lines + twin)), SUITE, GROUPS)["rows"]
    assert row["success_pct_ci95"] == pytest.approx([34.24, 100.0], abs=0.01)  # Wilson, 2 of 2
    for name in ("final_iou", "effective_direction_pct", "angle_loss_deg"):
        assert row[f"{name}_ci95"] is None
        assert row[f"{name}_ci95_reason"] == "no variation between tasks"
    (row,) = summarise(read_run(write_run(tmp_path / "one", lines)), SUITE, GROUPS)["rows"]
    assert row["steps_ci95_reason"] == "a single task"


def test_metrics_without_anything_to_average_are_null(tmp_path):
    lines = episode("a", 0, np.eye(3), [("STOP", 0)], [0.5, 0.5], "stop")
    (row,) = summarise(read_run(write_run(tmp_path / "run", lines)), SUITE, GROUPS)["rows"]
    assert row["effective_direction_pct"] is None
    assert row["angle_gap_deg"] is None
    assert row["effective_direction_pct_ci95_reason"] == "nothing to average"
    assert row["steps"] == 0


def test_an_empty_run_and_an_unknown_task_are_named(tmp_path, run):
    with pytest.raises(ValueError, match="at least one finished episode, got none"):
        summarise(read_run(write_run(tmp_path / "empty", [])), SUITE, GROUPS)
    with pytest.raises(ValueError, match=r"tasks of the suite, got \['b'\]"):
        summarise(run, SUITE, {"a": GROUPS["a"]})


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(16, 100, 10.10, 24.42), (17, 100, 10.89, 25.55), (2, 100, 0.55, 7.0), (0, 100, 0, 3.7), (1, 30, 0.59, 16.67)],
)
def test_wilson_gives_the_printed_digits(successes, trials, low, high):
    assert [round(end, 2) for end in wilson(successes, trials).ends] == [low, high]


def test_the_bootstrap_covers_the_spread_of_a_mean():
    values = np.random.default_rng(0).normal(5, 2, 400)
    counts = bootstrap_counts(400)
    assert counts.shape == (RESAMPLES, 400)
    assert (counts.sum(axis=1) == 400).all()
    low, high = task_bootstrap(values, np.ones(400), counts).ends
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_curves_keep_the_final_iou_and_average_seeds_within_tasks(run, tmp_path):
    methods = attach(run, GROUPS).methods
    curve = iou_curve(methods[0]).mean
    assert curve.shape == (49,)
    assert curve[0] == pytest.approx((0.5 + 0.6) / 2)
    assert curve[1] == pytest.approx(((0.95 + 0.4) / 2 + 0.7) / 2)
    assert curve[2:] == pytest.approx(((0.95 + 0.3) / 2 + 0.8) / 2)
    first, second = (draw_curves(methods, tmp_path / name, title="t").read_bytes() for name in ("a.png", "b.png"))
    assert first == second
    assert first.startswith(b"\x89PNG")


def test_the_table_has_a_line_a_policy_and_the_papers_below():
    row = {"policy": "pose_greedy", "episodes": 2} | PAPER_ROWS["pose_greedy"] | {"final_iou": None}
    lines = markdown_table([row], paper=True).splitlines()
    assert len({len(line) for line in lines[:4]}) == 1
    assert [cell.strip() for cell in lines[2].split("|")][1:5] == ["pose_greedy", "2", "100.0", "–"]
    assert "0.924" in lines[3]
    assert len(markdown_table([row]).splitlines()) == 3
