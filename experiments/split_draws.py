"""Tables 1 and 9 over many draws of the test split: what the choice of its 100 tasks alone does to every figure.

Play the whole collection (`--suite`, with its reference paths) once; the split is then drawn again and again by
Appendix I's rule under other selection seeds. `beyond` is the share of draws at least as far from their mean as the
paper's figure.
"""

from absl import flags

from experiments import common

POLICIES = flags.DEFINE_list("policies", "iou_greedy", "policies to play")
SEEDS = flags.DEFINE_integer("seeds", 1, "seeds of the random policies; the paper has 3", lower_bound=1)
PLACES = flags.DEFINE_integer("places", 100, "tasks a split", lower_bound=1)
DRAWS = flags.DEFINE_integer("draws", 2000, "splits to draw", lower_bound=2)


def experiment() -> None:
    """Play, draw and tabulate."""
    from rotajax.reports.layout import SUMMARY, TRAJECTORY, Column, Table
    from rotajax.reports.paper import PAPER_ROWS

    names = {column.key: column.heading for column in (*SUMMARY, *TRAJECTORY)}
    rows = [
        {"policy": entry.policy, "figure": names[row["metric"]]} | row
        for entry in common.entries(POLICIES.value, seeds=SEEDS.value)
        for row in draw(entry.method, PAPER_ROWS.get(entry.policy, {}))
    ]
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


def draw(method, paper: dict) -> list[dict]:
    """Return a row a metric of Tables 1 and 9."""
    import numpy as np

    from rotajax.analysis.summary import task_sums
    from rotajax.checks import require
    from rotajax.tasks.folder import read_document
    from rotajax.tasks.select import SHORTEST, select_test
    from rotajax.tasks.suite import suite_folder

    tasks = read_document(suite_folder(common.SUITE.value))["tasks"]
    lengths = {row["id"]: len(row["reference"]) for row in tasks if row.get("reference") is not None}
    require(bool(lengths), f"suite {common.SUITE.value}", "one with reference paths (rotajax suite search)", "none")
    place = {task: row for row, task in enumerate(method.tasks)}
    played = {task: length for task, length in lengths.items() if task in place and length >= SHORTEST}
    eligible = [place[task] for task in played]
    chosen = np.zeros((DRAWS.value, len(place)))
    for k in range(DRAWS.value):
        split = select_test(played, common.SEED.value + k, places=PLACES.value)
        chosen[k, [place[task] for task in split]] = 1
    rows = []
    for name, (above, below) in task_sums(method).items():
        drawn = chosen @ below
        if not drawn.all():
            continue
        figures = chosen @ above / drawn
        low, high = np.percentile(figures, (2.5, 97.5))
        row = {
            "metric": name,
            "all": float(above[eligible].sum() / below[eligible].sum()),
            "low": float(low),
            "high": float(high),
        }
        if name in paper:
            away = np.abs(figures - figures.mean()) >= abs(paper[name] - figures.mean())
            row |= {"paper": paper[name], "beyond": float(100 * away.mean())}
        rows.append(row)
    return rows


if __name__ == "__main__":
    common.main(experiment)
