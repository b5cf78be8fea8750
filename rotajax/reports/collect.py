"""`collect` and `collect_pairs`: the tables of a report, made from its methods."""

from collections.abc import Sequence

from rotajax.analysis import (
    angles,
    associations,
    differences,
    divergences,
    matched_states,
    oracles,
    outcomes,
    retries,
    summary_row,
)
from rotajax.records import OUTCOMES
from rotajax.reports import layout
from rotajax.reports.curve import curve_rows
from rotajax.reports.entries import Entry
from rotajax.reports.layout import Table
from rotajax.reports.paper import PAPER_OTHERS, PAPER_ROWS

_HEADINGS = {column.key: column.heading for column in (*layout.SUMMARY, *layout.TRAJECTORY)}
_POOLED = "Tasks weigh the same; rates of actions pool all rotations, angles those of effective directions."
_BOOTSTRAP = "In brackets 95 % intervals of 10,000 resamples of whole tasks."


def collect(entries: Sequence[Entry], *, paper: bool = False) -> list[Table]:
    """Return the tables of a report: Tables 1, 2, 9, 10, 11, 12, 13 and 17, the curves and the episodes.

    paper: show the paper's rows of Tables 1 and 9 as well.
    """
    methods = [entry.method for entry in entries]
    summary = [summary_row(e.method, None if e.coverage is None else e.coverage.episode) for e in entries]
    summary = _with_paper(entries, summary) if paper else summary
    ended = [outcomes(method) for method in methods]
    answers = [
        row | {"policy": entry.method.name}
        for entry in entries
        for row in retries(entry.analysis.run)
        if row["policy"] == entry.policy and row["actions"]
    ]
    curves = [row for method in methods for row in curve_rows(method)]
    rows = {
        "summary": (layout.SUMMARY, "Alignment and actions", f"Table 1. {_POOLED} {_BOOTSTRAP}", summary),
        "trajectories": (layout.TRAJECTORY, "Pose and trajectories", f"Table 9. {_BOOTSTRAP}", summary),
        "success": (layout.SUCCESS, "Success", "Table 11. Wilson intervals where a task was played once.", ended),
        "outcomes": (layout.OUTCOMES, "How episodes ended", "Table 12. Repeat: of consecutive rotations.", ended),
        "retries": (layout.RETRIES, "Answers until a legal action", "Table 13.", answers),
        "angles": (layout.ANGLES, "Chosen angles", f"Tables 2 and 15. {_BOOTSTRAP}", [angles(m) for m in methods]),
        "associations": (
            layout.ASSOCIATIONS,
            "Chosen angle against what went before",
            f"Figure 4, Table 10 and Equation 14: Spearman's ρ. {_BOOTSTRAP}",
            [associations(method) for method in methods],
        ),
        "divergences": (
            layout.DIVERGENCES,
            "Picture and pose",
            f"Appendix K.3: U, D: IoU up or down; C, F: pose closer or further. {_BOOTSTRAP}",
            [divergences(method) for method in methods],
        ),
        "oracles": (
            layout.ORACLES,
            "What a better action would bring",
            f"Table 17, over all states in which a rotation was made. {_BOOTSTRAP}",
            [row for method in methods for row in oracles(method)],
        ),
        "curves": (layout.CURVES, "Mean IoU by rotations", "Figure 3, to rotation 48.", curves),
        "episodes": (layout.EPISODES, "Episodes", "Every episode of the runs.", _episodes(entries)),
    }
    return [Table(name, title, note, cols, found) for name, (cols, title, note, found) in rows.items() if found]


def collect_pairs(pairs: Sequence[tuple[Entry, Entry]]) -> list[Table]:
    """Return the tables of comparisons: differences on the same tasks (Tables 14, 16), matched states (Table 8)."""
    gaps, matched = [], []
    for first, second in pairs:
        name = f"{first.method.name} − {second.method.name}"
        measured = first.coverage is not None and second.coverage is not None
        seen = (first.coverage.episode, second.coverage.episode) if measured else None  # type: ignore[union-attr]
        before = (first.coverage.before, second.coverage.before) if measured else None  # type: ignore[union-attr]
        for row in differences(first.method, second.method, coverage=seen):
            gaps.append({"pair": name, "label": _HEADINGS[row["metric"]]} | row)
        for row in matched_states(first.method, second.method, coverage=before):
            matched.append({"pair": name} | row)
    paired = "In brackets 95 % intervals; both methods have the same tasks in each of 10,000 resamples."
    return [
        Table("differences", "Differences on the same tasks", f"Tables 14 and 16. {paired}", layout.DIFFERENCES, gaps),
        Table("matched", "Actions in the same states", f"Figure 5 and Table 8. {paired}", layout.MATCHED, matched),
    ]


def _with_paper(entries: Sequence[Entry], rows: Sequence[dict]) -> list[dict]:
    found = []
    for entry, row in zip(entries, rows, strict=True):
        found.append(row)
        if entry.policy in PAPER_ROWS:
            found.append({"policy": f"{entry.policy}, paper", "paper": True} | PAPER_ROWS[entry.policy])
    return found + [{"policy": f"{name}, paper", "paper": True} | row for name, row in PAPER_OTHERS.items()]


def _episodes(entries: Sequence[Entry]) -> list[dict]:
    rows = []
    for entry in entries:
        method, episodes = entry.method, entry.method.episodes
        for row in range(len(episodes)):
            steps, first = int(episodes.steps[row]), int(episodes.first[row])
            seen = entry.coverage
            rows.append(
                {
                    "policy": method.name,
                    "task": method.tasks[episodes.task[row]],
                    "seed": int(episodes.seed[row]),
                    "outcome": OUTCOMES[episodes.outcome[row]],
                    "steps": steps,
                    "initial_iou": float(method.steps.iou_before[first] if steps else episodes.final_iou[row]),
                    "final_iou": float(episodes.final_iou[row]),
                    "final_pose_error_deg": float(episodes.final_pose_error[row]),
                    "coverage_pct": None if seen is None else float(seen.episode[row]),
                }
            )
    return rows
