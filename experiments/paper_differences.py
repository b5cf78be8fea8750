"""Tables 1 and 9 against the paper: how far apart, how far two draws of tasks would be, and what explains the rest."""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "uniform_random,random_rollback,iou_greedy,pose_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies; the paper has 3", lower_bound=1)
START = flags.DEFINE_float("start", 92.4, "mean pose error at the start to weigh tasks to; the paper's, by Table 9")


def experiment() -> None:
    """Play and tabulate."""
    from rotajax.reports.layout import Column, Table

    rows = common.figure_rows(POLICIES.value, compare, seeds=SEEDS.value)
    columns = (
        Column("policy", "method"),
        Column("figure", "figure"),
        Column("ours", "ours", 4),
        Column("paper", "paper", 4),
        Column("draws", "difference / draws"),
        Column("weighted", "start as the paper's", 4),
        Column("by_episode", "mean of episodes", 4),
    )
    note = (
        "Draws: the standard error of the difference of two such samples of tasks, each with starts of its own. Start: "
        f"tasks weighed, as little as can be, so that the mean pose error at the start is {START.value} degrees. "
        "Mean of episodes: each episode averaged first, where the table pools steps."
    )
    common.write([Table("paper_differences", "Against the paper", note, columns, rows)])


def compare(method, paper: dict) -> list[dict]:
    """Return a row a metric of Tables 1 and 9 that is measured and printed; none without a row in the paper."""
    import numpy as np

    from rotajax.analysis.intervals import bootstrap_counts
    from rotajax.analysis.summary import task_sums

    if not paper:
        return []
    starts, count = starts_of(method), len(method.tasks)
    weight, counts = tilt(starts, START.value), bootstrap_counts(count)
    singles = np.bincount(method.episodes.task, minlength=count)
    rows = []
    for name, (above, below) in task_sums(method).items():
        if not below.any():
            continue
        drawn = counts @ below
        spread = float(np.std((counts @ above)[drawn > 0] / drawn[drawn > 0]))
        ours = float(above.sum() / below.sum())
        gap = ours - paper[name]
        some = below > 0
        rows.append(
            {
                "metric": name,
                "ours": ours,
                "paper": paper[name],
                "draws": round(gap / (2**0.5 * spread), 2) if spread > 1e-6 else None,
                "weighted": None if weight is None else float(weight @ above / (weight @ below)),
                # A task is one episode here: with several seeds the mean of a task stands for its episodes.
                "by_episode": float(np.average(above[some] / below[some], weights=singles[some])),
            }
        )
    return rows


def starts_of(method):
    """Return the mean pose error at the start of each task in degrees, float64 [T]; of those that were turned."""
    import numpy as np

    error, first = method.per_task(method.steps.error_before, method.steps.t == 0)
    return np.where(first > 0, error / np.maximum(first, 1), method.episodes.final_pose_error.mean())


def tilt(values, mean: float):
    """Return weights, summing to 1, nearest to equal ones (relative entropy), with a mean; None where there are none.

    >>> [round(float(w), 3) for w in tilt([0.0, 1.0, 2.0], 1.0)]
    [0.333, 0.333, 0.333]
    """
    import numpy as np
    from scipy.optimize import brentq

    values = np.asarray(values, np.float64)
    if not values.min() < mean < values.max():
        return None

    def weights(slope: float):
        exponent = slope * (values - mean) / np.ptp(values)
        found = np.exp(exponent - exponent.max())
        return found / found.sum()

    slope = brentq(lambda slope: weights(slope) @ values - mean, -1e3, 1e3)
    return weights(slope)  # pyright: ignore[reportArgumentType] - a float, unless asked for more


if __name__ == "__main__":
    common.main(experiment)
