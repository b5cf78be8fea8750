import numpy as np
import pytest

from rotajax.analysis.decomposition import TOLERANCE_DEG
from rotajax.analysis.intervals import bootstrap_counts, paired_bootstrap, percentiles, task_bootstrap, wilson
from rotajax.reports.layout import Column, Table

# Tables 11 and 15.
PRINTED = {
    (16, 100): [10.10, 24.42],
    (10, 100): [5.52, 17.44],
    (17, 100): [10.89, 25.55],
    (8, 100): [4.11, 15.00],
    (4, 100): [1.57, 9.84],
    (2, 100): [0.55, 7.00],
    (0, 100): [0.00, 3.70],
    (5, 30): [7.34, 33.56],
    (1, 30): [0.59, 16.67],
    (0, 30): [0.00, 11.35],
    (2, 30): [1.85, 21.32],
}


@pytest.mark.parametrize("rate", PRINTED)
def test_wilson_prints_the_papers_digits(rate):
    assert [round(end, 2) for end in wilson(*rate).ends] == PRINTED[rate]


def test_no_success_and_all_success_are_no_certainty():
    assert wilson(0, 100).ends[1] > 3
    assert wilson(400, 400).ends[0] < 99.1
    assert wilson(400, 400).ends[1] == 100
    assert wilson(0, 0).reason == "no episodes"


def test_a_paired_difference_is_narrower_than_the_unpaired_one():
    rng = np.random.default_rng(0)
    hard, ones, counts = rng.normal(0, 5, 60), np.ones(60), bootstrap_counts(60)
    a, b = 3 + hard + rng.normal(0, 1, 60), hard + rng.normal(0, 1, 60)
    low, high = paired_bootstrap((a, ones), (b, ones), counts).ends
    # The differences of one task after the other, by hand.
    plain = task_bootstrap(a - b, ones, counts).ends
    assert [low, high] == pytest.approx(plain)
    alone = task_bootstrap(a, ones, counts).ends
    assert high - low < 0.5 * (alone[1] - alone[0])
    assert low < 3 < high


def test_the_paired_difference_of_pooled_rates_weighs_steps():
    a, b = (np.array([3.0, 0.0]), np.array([4.0, 2.0])), (np.array([1.0, 1.0]), np.array([1.0, 3.0]))
    # a twice: 3/4 - 1; b twice: 0 - 1/3; both: 1/2 - 1/2.
    assert paired_bootstrap(a, b, bootstrap_counts(2)).ends == pytest.approx([-1 / 3, 0])
    assert paired_bootstrap(b, a, bootstrap_counts(2)).ends == pytest.approx([0, 1 / 3])


def test_what_has_no_spread_has_a_reason():
    counts, ones = bootstrap_counts(5), np.ones(5)
    same = np.full(5, 0.1)
    assert task_bootstrap(same, ones, counts).reason == "no variation between tasks"
    assert paired_bootstrap((same, ones), (2 * same, ones), counts).reason == "no variation between tasks"
    assert paired_bootstrap((same, ones), (same, np.zeros(5)), counts).reason == "nothing to average"
    assert paired_bootstrap((same, np.eye(5)[0]), (same, ones), counts).reason == "a single task"


@pytest.mark.parametrize("tasks", [2, 5, 100])
@pytest.mark.parametrize("constant", [0.0, 1e-3, 29.27, 180.0])
def test_noise_about_a_constant_is_no_spread(constant, tasks):
    # As a tie of two successors leaves it: float64 sums, float32 numbers, pose errors known to 2e-5 degrees.
    rng, counts, ones = np.random.default_rng(tasks), bootstrap_counts(tasks), rng_counts(tasks)
    for noise in (1e-14, 1e-9, 1e-6, TOLERANCE_DEG / 2):
        column = ones * (constant + rng.uniform(-noise, noise, tasks))
        assert task_bootstrap(column, ones, counts).reason == "no variation between tasks"
        assert paired_bootstrap((column, ones), (2 * column, 2 * ones), counts).ends is None
        assert percentiles(constant + rng.uniform(-noise, noise, 1000)).ends is None
    one_task = ones * (constant + np.eye(tasks)[0])
    low, high = task_bootstrap(one_task, ones, counts).ends
    assert high - low > 1 / (4 * tasks)


def rng_counts(tasks):
    """Steps of each task: unequal, as played."""
    return np.random.default_rng(1).integers(1, 48, tasks).astype(np.float64)


def test_a_narrow_interval_is_printed_with_the_decimals_that_show_it():
    column = Column("x", "x", 2)
    cells, _ = Table("t", "t", "", (column,), [{"x": 0.0, "x_ci95": [-0.0001, 0.00012]}]).cells()
    assert cells == [["0.00 [-0.0001, 0.0001]"]]
    cells, _ = Table("t", "t", "", (column,), [{"x": 100.0, "x_ci95": [99.98, 100.0]}]).cells()
    assert cells == [["100.00 [99.98, 100.00]"]]


def test_undefined_resamples_are_counted_or_refused():
    samples = np.linspace(0, 1, 10_001)
    few = np.where(np.arange(10_001) % 200 == 1, np.nan, samples)
    found = percentiles(few)
    assert found.ends == pytest.approx([0.025, 0.975], abs=1e-3)
    assert found.reason == "undefined in 50 of 10001 resamples, left out"
    many = np.where(np.arange(10_001) % 50 == 1, np.nan, samples)
    assert percentiles(many).ends is None
    assert percentiles(np.full(10, np.nan)).reason == "undefined in 10 of 10 resamples"
    # Two of twenty tasks have anything to average: an eighth of the resamples draws neither.
    below = np.zeros(20)
    below[:2] = 1
    assert "undefined in 1" in task_bootstrap(np.array([0.0, 1.0] + [0.0] * 18), below, bootstrap_counts(20)).reason


def test_resamples_are_shared_and_read_only():
    assert bootstrap_counts(7) is bootstrap_counts(7)
    with pytest.raises(ValueError, match="read-only"):
        bootstrap_counts(7)[0, 0] = 1
