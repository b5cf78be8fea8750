import numpy as np
import pytest
from scipy.stats import spearmanr

from rotajax.analysis import associations, attach
from rotajax.analysis.associations import absolute
from rotajax.analysis.intervals import Interval
from rotajax.analysis.spearman import spearman
from rotajax.records import read_run
from runs import episode, write_run


@pytest.mark.parametrize(("count", "tasks", "decimals"), [(60, 3, 1), (200, 7, 2), (500, 40, 9), (40, 5, 0)])
def test_every_resample_equals_scipy_on_its_repeated_rows(count, tasks, decimals):
    rng = np.random.default_rng(count)
    task, level = rng.integers(0, tasks, count), rng.choice([1, 5, 10, 30], count, p=[0.1, 0.2, 0.3, 0.4])
    value = np.round(rng.random(count) - 0.01 * level, decimals)  # ties within and between tasks
    counts = rng.multinomial(tasks, np.full(tasks, 1 / tasks), 40).astype(np.float64)
    ours = spearman(level, value, task, counts)
    for drawn, rho in zip(counts, ours, strict=True):
        rows = np.repeat(np.arange(count), drawn[task].astype(int))
        if np.ptp(level[rows]) == 0 or np.ptp(value[rows]) == 0:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(level[rows], value[rows]).statistic, abs=1e-12)


def test_blocks_do_not_show(monkeypatch):
    rng = np.random.default_rng(0)
    task, level = rng.integers(0, 6, 300), rng.choice([1, 5, 10, 30], 300)
    value, counts = np.round(rng.random(300), 2), rng.multinomial(6, np.full(6, 1 / 6), 20).astype(np.float64)
    whole = spearman(level, value, task, counts)
    monkeypatch.setattr("rotajax.analysis.spearman._CELLS", 50)
    assert spearman(level, value, task, counts) == pytest.approx(whole, abs=1e-13)


def test_a_constant_column_is_nan():
    counts = np.ones((2, 2))
    task = np.array([0, 0, 1])
    assert np.isnan(spearman(np.array([30, 30, 30]), np.array([0.1, 0.2, 0.3]), task, counts)).all()
    assert np.isnan(spearman(np.array([1, 5, 30]), np.array([0.1, 0.1, 0.1]), task, counts)).all()


def test_figure_4_maps_intervals_to_absolute_values():
    ends = [[-0.617, -0.443], [0.166, 0.532], [-0.021, 0.309], [-0.229, 0.044], [0.0, 0.2]]
    mapped = [absolute(Interval(pair)).ends for pair in ends]
    assert mapped == [[0.443, 0.617], [0.166, 0.532], [0, 0.309], [0, 0.229], [0, 0.2]]
    assert absolute(Interval(None, "a single task")) == Interval(None, "a single task")


def row_of(tmp_path, lines):
    group = np.eye(3, dtype=np.float32)[None]
    return associations(attach(read_run(write_run(tmp_path / "run", lines)), {"a": group, "b": group})["p"])


@pytest.mark.parametrize(
    ("lines", "rho", "reason"),
    [
        ([episode("a", 0, np.eye(3), [("STOP", 0)], [0.5] * 2, "stop")], None, "no rotations"),
        (
            [episode(task, 0, np.eye(3), [("YAW_POS", 30)] * 2, [0.5, 0.6, 0.7], "limit") for task in "ab"],
            None,
            "every angle is 30 degrees",
        ),
        (
            [episode(task, 0, np.eye(3), [("YAW_POS", 30), ("YAW_POS", 5)], [0.5] * 3, "limit") for task in "ab"],
            None,
            "every value is the same",
        ),
        (
            [episode("a", 0, np.eye(3), [("YAW_POS", 30), ("YAW_POS", 5)], [0.5, 0.6, 0.7], "limit")],
            -1.0,
            "a single task",
        ),
        (
            [episode(task, 0, np.eye(3), [("YAW_POS", 30), ("YAW_POS", 5)], [0.5, 0.6, 0.7], "limit") for task in "ab"],
            -1.0,
            "no variation between tasks",
        ),
    ],
)
def test_what_has_no_interval_says_why(tmp_path, lines, rho, reason):
    row = row_of(tmp_path, [line for lines_of_one in lines for line in lines_of_one])
    assert row["iou_angle_rho"] == (rho if rho is None else pytest.approx(rho))
    for name in ("iou_angle_rho", "iou_angle_abs", "difference"):
        assert (row[f"{name}_ci95"], row[f"{name}_ci95_reason"]) == (None, reason)
