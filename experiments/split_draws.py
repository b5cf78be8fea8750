"""Tables 1 and 9 over many draws of the test split: what the choice of its 100 tasks alone does to every figure.

Play the whole collection (`--suite`, with its reference paths) once; the split is then drawn again and again by
Appendix I's rule under other selection seeds. `beyond` is the share of draws at least as far from their mean as the
paper's figure.
"""

from functools import cache

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "iou_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies; the paper has 3", lower_bound=1)
PLACES = flags.DEFINE_integer("places", 100, "tasks a split", lower_bound=1)
DRAWS = flags.DEFINE_integer("draws", 2000, "splits to draw", lower_bound=2)


def experiment() -> None:
    """Play, draw and tabulate."""
    from rotajax.reports.layout import Column, Table

    rows = common.figure_rows(POLICIES.value, compare, seeds=SEEDS.value)
    columns = (
        Column("policy", "method"),
        Column("figure", "figure"),
        Column("all", "all eligible", 4),
        Column("low", "2.5 %", 4),
        Column("high", "97.5 %", 4),
        Column("paper", "paper", 4),
        Column("beyond", "beyond %", 1),
    )
    note = (
        f"{DRAWS.value} splits of {PLACES.value} tasks with reference paths of 4 rotations or more, by selection seeds "
        f"from {common.SEED.value} on. Beyond: draws at least as far from their mean as the paper's figure."
    )
    common.write([Table("split_draws", "Draws of the test split", note, columns, rows)])


def compare(method, paper: dict) -> list[dict]:
    """Return a row a metric of Tables 1 and 9; those of the paper's with the share of splits that are as far off."""
    import numpy as np

    from rotajax.analysis.summary import task_sums

    eligible, chosen = splits(tuple(method.tasks))
    rows = []
    for name, (above, below) in task_sums(method).items():
        drawn = chosen @ below
        if not drawn.all():
            continue
        figures = chosen @ above / drawn
        low, high = np.percentile(figures, (2.5, 97.5))
        every = float(above[eligible].sum() / below[eligible].sum())
        row = {"metric": name, "all": every, "low": float(low), "high": float(high)}
        if name in paper:
            away = np.abs(figures - figures.mean()) >= abs(paper[name] - figures.mean())
            row |= {"paper": paper[name], "beyond": float(100 * away.mean())}
        rows.append(row)
    return rows


@cache
def splits(tasks: tuple[str, ...]):
    """Return the rows of the tasks that a split may hold, and which tasks each split holds, [draws, T] of 0 and 1."""
    import numpy as np

    from rotajax.checks import require
    from rotajax.tasks.folder import read_document
    from rotajax.tasks.select import SHORTEST, select_test
    from rotajax.tasks.suite import suite_folder

    described = read_document(suite_folder(common.SUITE.value))["tasks"]
    lengths = {row["id"]: len(row["reference"]) for row in described if row.get("reference") is not None}
    require(bool(lengths), f"suite {common.SUITE.value}", "one with reference paths (rotajax suite search)", "none")
    place = {task: row for row, task in enumerate(tasks)}
    played = {task: length for task, length in lengths.items() if task in place and length >= SHORTEST}
    chosen = np.zeros((DRAWS.value, len(tasks)))
    for k in range(DRAWS.value):
        split = select_test(played, common.SEED.value + k, places=PLACES.value)
        chosen[k, [place[task] for task in split]] = 1
    return [place[task] for task in played], chosen


if __name__ == "__main__":
    common.main(experiment)
