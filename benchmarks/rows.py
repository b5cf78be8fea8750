"""Rows of benchmarks/results/*.jsonl: one JSON line a subject of a question."""

import json
from collections.abc import Iterable
from pathlib import Path

KEYS = (
    "question",
    "subject",
    "work",
    "median_s",
    "runs",
    "compile_s",
    "peak_mib",
    "device",
    "threads",
    "jaxlib",
    "commit",
    "ratio_to_best_peer",
)


def with_ratios(rows: list[dict]) -> list[dict]:
    """Return rows of one work with how many times each is as fast as the fastest peer; null where there is none."""
    peers = [row["median_s"] for row in rows if row["peer"] and row["median_s"] is not None]
    return [
        {**row, "ratio_to_best_peer": min(peers) / row["median_s"] if peers and row["median_s"] else None}
        for row in rows
    ]


def write_rows(path: Path, rows: Iterable[dict]) -> None:
    """Append rows to a file. Raises ValueError for a row without one of the keys."""
    lines = []
    for row in rows:
        missing = [key for key in KEYS if key not in row]
        if missing:
            raise ValueError(f"benchmark row: expected the keys {', '.join(KEYS)}, got none of {', '.join(missing)}")
        lines.append(json.dumps({k: _short(v) for k, v in row.items()}, allow_nan=False) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)


def read_rows(folder: Path) -> list[dict]:
    """Return the newest run's rows of every question, from all files of a folder; rows of other kinds as they are."""
    rows = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    newest: dict[str, str] = {}
    for row in rows:
        newest[row["question"]] = max(newest.get(row["question"], ""), row.get("started", ""))
    return [row for row in rows if row.get("started", "") == newest[row["question"]]]


def _short(value: object) -> object:
    """Return a number with 5 significant digits: more is noise."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return [_short(v) for v in value] if isinstance(value, list | tuple) else value
