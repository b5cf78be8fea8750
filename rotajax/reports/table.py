"""`markdown_table`: the rows of summary.json as a table for the terminal and for Markdown."""

from collections.abc import Sequence

from rotajax.reports.paper import PAPER_ROWS, SOURCE

# Key, heading, decimals: the columns of Tables 1 and 9.
COLUMNS = (
    ("success_pct", "success %", 1),
    ("final_iou", "final IoU", 3),
    ("steps", "steps", 2),
    ("effective_direction_pct", "eff. dir. %", 2),
    ("best_legal_angle_pct", "best angle %", 2),
    ("angle_gap_deg", "gap °", 2),
    ("angle_loss_deg", "loss °", 2),
    ("final_pose_error_deg", "final error °", 2),
    ("pose_improving_pct", "improving %", 2),
    ("iou_change_per_step", "ΔIoU/step", 4),
    ("pose_reduction_per_step_deg", "reduction/step °", 4),
)


def markdown_table(rows: Sequence[dict], *, paper: bool = False) -> str:
    """Return the table of summary rows, a policy a line, null as a dash; with `paper` its row below each of ours."""
    cells = [["policy", "episodes", *(heading for _, heading, _ in COLUMNS)]]
    for row in rows:
        cells.append([row["policy"], str(row["episodes"]), *_values(row)])
        if paper and row["policy"] in PAPER_ROWS:
            cells.append(["  in the paper", "", *_values(PAPER_ROWS[row["policy"]])])
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = [cells[0], rule, *cells[1:]]
    text = "\n".join("| " + " | ".join(_align(line, widths)) + " |" for line in lines)
    return f"{text}\n\nPaper: {SOURCE}." if paper else text


def _values(row: dict) -> list[str]:
    return ["–" if row.get(key) is None else f"{row[key]:.{digits}f}" for key, _, digits in COLUMNS]


def _align(line: list[str], widths: list[int]) -> list[str]:
    first, *others = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
