"""Tables 6 and 7: lengths of reference paths against inverse starts, and proved shortest paths, of a searched suite."""

from collections import Counter

import numpy as np

from experiments import common


def experiment() -> None:
    """Tabulate what `rotajax suite search` wrote into the suite."""
    from rotajax.checks import require
    from rotajax.reports.layout import Column, Table

    suite = common.suite()
    rows = [row for row in suite.info.rows if row.get("reference") is not None]
    require(len(rows) > 0, f"suite {suite.info.id}", "one with reference paths (rotajax suite search)", "none")
    kinds = {
        "inverse start": np.array([len(row["start"]) for row in rows]),
        "reference": np.array([len(row["reference"]) for row in rows]),
        "shortest found": np.array([len(row["shortest"]) for row in rows if row.get("shortest") is not None]),
        "lower bound": np.array([row["lower_bound"] for row in rows if row.get("lower_bound") is not None]),
    }
    kinds = {name: lengths for name, lengths in kinds.items() if len(lengths)}
    inverse, reference = kinds["inverse start"], kinds["reference"]
    lengths = [_describe(name, values) for name, values in kinds.items()]
    columns = [Column("paths", "paths"), Column("tasks", "tasks", 0), Column("mean", "mean", 2)]
    columns += [Column(name, name, 1) for name in ("median", "min", "max")]
    relations = {"shorter": reference < inverse, "equal": reference == inverse, "longer": reference > inverse}
    if all(row.get("shortest") is not None and row.get("lower_bound") is not None for row in rows):
        relations["proved shortest"] = kinds["shortest found"] == kinds["lower bound"]
    against = [
        {"reference": name, "tasks": int(found.sum()), "pct": 100.0 * float(found.mean())}
        for name, found in relations.items()
    ]
    counted = {name: Counter(values.tolist()) for name, values in kinds.items()}
    spread = range(min(map(min, counted.values())), max(map(max, counted.values())) + 1)
    histogram = [{"length": n} | {name: count[n] for name, count in counted.items()} for n in spread]
    share = (Column("reference", "reference"), Column("tasks", "tasks", 0), Column("pct", "%", 1))
    by_length = (Column("length", "rotations", 0), *(Column(name, name, 0) for name in counted))
    common.write(
        [
            Table("path_lengths", "Path lengths", "Table 6.", tuple(columns), lengths),
            Table("path_comparison", "Reference and inverse start", "Table 6, task by task.", share, against),
            Table("path_histogram", "Tasks by path length", "Table 7.", by_length, histogram),
        ]
    )


def _describe(name: str, values: np.ndarray) -> dict:
    row = {"paths": name, "tasks": len(values), "mean": float(values.mean()), "median": float(np.median(values))}
    return row | {"min": float(values.min()), "max": float(values.max())}


if __name__ == "__main__":
    common.main(experiment)
