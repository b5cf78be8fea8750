"""`Table`: rows with the columns that a report shows of them; the one place where headings and digits are decided."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple


class Column(NamedTuple):
    """A column: the key in a row, its heading and its decimals; None for text, 0 for whole numbers."""

    key: str
    heading: str
    digits: int | None = None


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows under a name. `<key>_ci95` beside a number is its interval, `<key>_ci95_reason` why there is none."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: Sequence[dict]

    def cells(self) -> tuple[list[list[str]], list[str]]:
        """Return the text of every cell, a row a list, and the reasons that its marks a, b, ... stand for."""
        reasons: list[str] = []
        return [[_cell(row, column, reasons) for column in self.columns] for row in self.rows], reasons


def mark(index: int) -> str:
    """Return the mark of a reason: a to z, then aa, ab, ..."""
    letters = chr(ord("a") + index % 26)
    return letters if index < 26 else mark(index // 26 - 1) + letters


def number(value: float | str | None, digits: int | None) -> str:
    """Return a number with its decimals, a dash for None; what rounds to zero has no minus sign.

    >>> number(-0.004, 2), number(None, 2), number(17, 0)
    ('0.00', '–', '17')
    """
    if value is None:
        return "–"
    if digits is None or isinstance(value, str):
        return str(value)
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _cell(row: dict, column: Column, reasons: list[str]) -> str:
    digits = _DIGITS.get(row.get("metric", ""), column.digits) if column.digits else column.digits
    text = number(row.get(column.key), digits)
    ends, reason = row.get(f"{column.key}_ci95"), row.get(f"{column.key}_ci95_reason")
    if ends is not None:
        text += " " + _interval(ends, digits)
    if reason is not None:
        if reason not in reasons:
            reasons.append(reason)
        text += f" ({mark(reasons.index(reason))})"
    return text


def _interval(ends: Sequence[float], digits: int | None) -> str:
    """Return the ends in brackets, with as many more decimals as it takes to tell them apart.

    >>> _interval([0.0012, 0.0034], 2), _interval([1.0, 2.0], 2)
    ('[0.001, 0.003]', '[1.00, 2.00]')
    """
    while digits is not None and ends[0] != ends[1] and number(ends[0], digits) == number(ends[1], digits):
        digits += 1
    return f"[{number(ends[0], digits)}, {number(ends[1], digits)}]"


C = Column
POLICY = C("policy", "method")
SUMMARY = (
    POLICY,
    C("episodes", "episodes", 0),
    C("success_pct", "success %", 1),
    C("final_iou", "final IoU", 3),
    C("steps", "steps", 2),
    C("coverage_pct", "coverage %", 2),
    C("effective_direction_pct", "effective direction %", 2),
    C("best_legal_angle_pct", "best angle %", 2),
    C("angle_gap_deg", "angle gap °", 2),
    C("angle_loss_deg", "angle loss °", 2),
)
TRAJECTORY = (
    POLICY,
    C("final_pose_error_deg", "final pose error °", 2),
    C("pose_improving_pct", "improving steps %", 2),
    C("iou_change_per_step", "ΔIoU a step", 4),
    C("pose_reduction_per_step_deg", "pose reduction a step °", 4),
)
OUTCOMES = (
    POLICY,
    C("episodes", "episodes", 0),
    *(C(f"{name}_pct", f"{name} %", 1) for name in ("success", "stagnation", "stop", "limit", "error")),
    C("repeat_pct", "repeat %", 2),
)
SUCCESS = (POLICY, C("success", "successes", 0), C("episodes", "episodes", 0), C("success_pct", "success %", 2))
RETRIES = (POLICY, C("actions", "actions", 0), *(C(f"within_{k}_pct", f"retries ≤ {k} %", 2) for k in (0, 2, 6)))
ANGLES = (POLICY, C("rotations", "rotations", 0), *(C(f"angle_{a}_pct", f"{a}° %", 2) for a in (1, 5, 10, 30)))
ASSOCIATIONS = (
    POLICY,
    C("iou_angle_rho", "IoU–angle ρ", 3),
    C("pose_angle_rho", "pose–angle ρ", 3),
    C("difference", "|ρ| IoU − |ρ| pose", 3),
)
CLASSES = tuple(C(f"{name}_pct", f"{name} %", 2) for name in ("UC", "DC", "UF", "DF", "neutral"))
DIVERGENCES = (POLICY, C("rotations", "rotations", 0), *CLASSES)
ORACLES = (
    POLICY,
    C("oracle", "action"),
    C("states", "states", 0),
    C("successor_error_deg", "successor error °", 2),
    C("improvement_deg", "improvement °", 2),
)
CURVES = (POLICY, C("rotations", "rotations", 0), C("iou", "mean IoU", 4))
EPISODES = (
    POLICY,
    C("task", "task"),
    C("seed", "seed", 0),
    C("outcome", "outcome"),
    C("steps", "steps", 0),
    C("initial_iou", "initial IoU", 3),
    C("final_iou", "final IoU", 3),
    C("final_pose_error_deg", "final pose error °", 2),
    C("coverage_pct", "coverage %", 1),
)
DIFFERENCES = (
    C("pair", "methods"),
    C("label", "metric"),
    C("tasks", "tasks", 0),
    C("first", "first", 4),
    C("second", "second", 4),
    C("difference", "first − second", 4),
)
MATCHED = (
    C("pair", "methods"),
    POLICY,
    C("pairs", "pairs", 0),
    C("prior_rotations", "rotations before", 2),
    C("prior_coverage_pct", "coverage before %", 2),
    C("iou_change", "ΔIoU", 4),
    *CLASSES,
    C("pose_reduction_deg", "pose reduction °", 4),
)
# A row about one metric has the decimals of that metric's own column.
_DIGITS = {column.key: column.digits for column in (*SUMMARY, *TRAJECTORY)}
