"""benchmarks/README.md, made from the rows alone."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from rotajax.files import write_atomically

TITLES = {
    "exact mask": ("Exact mask", "One silhouette of Appendix G, on one core."),
    "span mask": (
        "Span mask",
        "The same silhouettes by spans, packed 32 pixels a word, on one core; peers splat the same points.",
    ),
    "oracle": (
        "Oracle of the 24 successors",
        "The best of the 24 rotations by IoU, the very one that the exact renderer would choose, on one core.",
    ),
    "search": ("Search of a task", "Reference path of Appendix H and the shortest path, verified exactly."),
    "environment steps": (
        "Environment steps",
        "A step with its observation, mask and auxiliary view, on one core; the peer draws the same pictures.",
    ),
    "batch": ("Batch sizes", "The cost a pose where as many go in one call, on one core; the same poses throughout."),
    "devices": ("Host devices", "The same poses on one and on two cores."),
    "first result": ("Time to first result", "Whole processes on one core, from starting Python."),
    "solver overhead": (
        "Overhead of a model's decision",
        "What a decision costs this host on one core, beyond the endpoint's time; drawing is apart.",
    ),
    "train_env": (
        "Training environment",
        "A step of the environment that policies are trained in, on one and on two cores; the peer has the same rules.",
    ),
    "analysis": (
        "Analysis",
        "Whole runs: files, replay check, decomposition, tables, intervals; a second core helps matrix products only.",
    ),
    "coverage": ("Surface coverage", "Marching cubes, hierarchy and rays of Appendix F, on one core."),
}
INTRODUCTION = """# Benchmarks

Made by `make bench` (`python -m benchmarks`) from the rows in `results/`; do not edit.

How to read: a time is the median of at least five turns, the range of all turns beside it. Every subject has a process
of its own, pinned to the same core or cores before any library loads; subjects take turns, on the same points and
poses. Before anything is timed their pictures are compared, at most 4 pixels of a mask may differ, and a disagreement
ends the run. `x best peer` is how many times a subject is as fast as the fastest peer of the same table: only such
ratios carry over to another machine. `first` is what the first call takes more than the later ones (tracing and
compiling, no cache); Warp keeps its compiled kernel from table to table. `MiB` is the peak memory of the process, its
libraries and its copy of the work included.
"""


def write_readme(path: Path, rows: list[dict]) -> None:
    """Write the tables of all rows."""
    write_atomically(path, readme(rows))


def readme(rows: list[dict]) -> str:
    """Return the text of the tables; questions without rows are left out."""
    timed = [row for row in rows if row["question"] in TITLES]
    parts = [INTRODUCTION, _runs(timed)]
    for question, (title, words) in TITLES.items():
        own = [row for row in timed if row["question"] == question]
        if own:
            parts.append(f"## {title}\n\n{words}\n")
            parts += [_table(work, list(group)) for work, group in groupby(own, key=lambda row: row["work"])]
            parts += _finding(question, own)
    parts += _memory(timed) + _margin([row for row in rows if row["question"] == "span margin"])
    return "\n".join(parts)


def _runs(rows: list[dict]) -> str:
    """Return a line a run: what it ran on."""
    lines = []
    for row in {row["started"]: row for row in rows}.values():
        versions = ", ".join(f"{name} {version or 'absent'}" for name, version in row["versions"].items())
        small = " Small work: these times mean nothing." if row["quick"] else ""
        lines.append(
            f"Run of {row['started']}, commit {row['commit']}: {row['machine']}; {versions}; "
            f"load {row['load']:.1f} when it started.{small}\n"
        )
    return "\n".join(lines)


def _table(work: str, rows: list[dict]) -> str:
    unit = rows[0]["unit"]
    ratios = any(row["ratio_to_best_peer"] is not None for row in rows)
    head = ["subject", f"ms a {unit}", f"{unit}s a second", *(["x best peer"] if ratios else [])]
    head += ["turns", "first", "MiB", "cores", "device"]
    lines = [f"Work: {work}.\n", _line(head), _line(["---", *["---:"] * (len(head) - 2), "---"])]
    for row in rows:
        name = row["subject"] + (" (peer)" if row["peer"] else "")
        if row["median_s"] is None:
            lines.append(_line([name, row["note"], *[""] * (len(head) - 2)]))
            continue
        low, high = row["spread_s"]
        cells = [
            name,
            f"{_number(1e3 * row['median_s'])} ({_number(1e3 * low)} to {_number(1e3 * high)})",
            _number(1 / row["median_s"]),
        ]
        cells += [_number(row["ratio_to_best_peer"])] if ratios else []
        first = f"{row['compile_s']:.1f} s"
        lines.append(
            _line([*cells, str(row["runs"]), first, f"{row['peak_mib']:.0f}", str(row["threads"]), row["device"]])
        )
    return "\n".join(lines) + "\n"


def _finding(question: str, rows: list[dict]) -> list[str]:
    """Return what a table leaves the reader to divide: two devices against one, large batches against 64."""
    cost = {row["subject"]: row["median_s"] for row in rows if row["median_s"]}
    found = []
    for name in ("rotajax.span", "rotajax.splat"):
        one, two = cost.get(f"{name}, 1 device"), cost.get(f"{name}, 2 devices")
        if one and two:
            found.append(f"{name}: two devices are {one / two:.2f} times as fast as one.\n")
    if question == "batch":
        sizes = {int(n.split()[-1].replace(",", "")): s for n, s in cost.items() if n.startswith("rotajax.span")}
        large = {size: s for size, s in sizes.items() if size >= 64}
        if len(large) > 1:
            most = max(abs(s / sizes[64] - 1) for s in large.values())
            found.append(f"From batch 64 to {max(large):,} a pose by spans costs the same within {most:.0%}.\n")
    return found


def _memory(rows: list[dict]) -> list[str]:
    """Return the largest peak of our own subjects, a line a question."""
    own = [row for row in rows if not row["peer"] and row["peak_mib"] is not None]
    if not own:
        return []
    lines = ["## Peak memory\n", "The largest process of ours a question.\n"]
    lines += [_line(["question", "subject", "MiB"]), _line(["---", "---", "---:"])]
    for question in TITLES:
        most = max((r for r in own if r["question"] == question), key=lambda r: r["peak_mib"], default=None)
        if most:
            lines.append(_line([question, most["subject"], f"{most['peak_mib']:.0f}"]))
    return ["\n".join(lines) + "\n"]


def _margin(rows: list[dict]) -> list[str]:
    """Return how far span IoUs are from exact ones, as benchmarks/margin.py measured it."""
    if not rows:
        return []
    row = rows[-1]
    names = [name for name in ("mean", "p99", "p99.9", "max", "bias") if name in row["all"]]
    lines = ["## Margin of the span renderer\n", f"|span IoU - exact IoU| over {row['work']}:\n"]
    lines += [_line(["", *names]), _line(["---", *["---:"] * len(names)])]
    bands = {"all": row["all"], **{f"{band} degrees": values for band, values in row.get("by_angle", {}).items()}}
    lines += [_line([band, *(f"{values[name]:.4f}" for name in names)]) for band, values in bands.items()]
    if "relied_on" in row:
        states = f"{row['walk']['states']:,}"
        lines.append(f"\nWhat the oracle and the search rely on, by {states} states of IoU greedy and these poses:\n")
        lines += [_line(["", "allowed", "measured"]), _line(["---", "---:", "---:"])]
        lines += [_line([what, f"{most:g}", f"{measured:.2g}"]) for what, most, measured in row["relied_on"]]
    return ["\n".join(lines) + "\n"]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    """Return a number with three significant digits and no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"
