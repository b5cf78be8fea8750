"""`write_report`: tables, pictures and the page of runs in a folder, for `rotajax analyse` and `rotajax compare`."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rotajax.analysis import Analysis, load
from rotajax.analysis.coverage import require_rays
from rotajax.checks import require, require_at_least
from rotajax.files import write_atomically
from rotajax.records.meta import versions
from rotajax.reports.collect import collect, collect_pairs
from rotajax.reports.entries import Entry, make_entries, with_coverage
from rotajax.reports.figures import figures
from rotajax.reports.files import require_parquet, table_files
from rotajax.reports.page import page
from rotajax.reports.replay import replays
from rotajax.reports.successors import successor_files

FORMAT = "rotajax.report/1"
META = "report.json"
# Which methods to compare: pairs of rows of the entries.
Pairing = Callable[[Sequence[Entry]], list[tuple[int, int]]]


def write_report(
    runs: Sequence[str | Path],
    out: str | Path,
    *,
    suite: str | Path | None = None,
    title: str | None = None,
    pairing: Pairing | None = None,
    coverage: bool = True,
    replay: int = 2500,
    paper: bool | None = None,
    parquet: bool = False,
    successors: bool = False,
    check: bool = True,
    draw: int = 200,
    progress: bool = True,
) -> Path:
    """Write the report of runs of one suite and return its page, `out`/index.html.

    suite: folder or name (default: the embedded suite of the runs' id); pairing: which methods to compare, of the
    report's entries; replay: episodes of a method to replay on the page, at most; paper: show the paper's rows
    (default: for icons of its collection); successors: write the 24-successor tables as well; check: refuse runs that
    do not replay; draw: states of a run, by chance, whose IoU must be that of the silhouettes drawn again (0 where
    check is False). An earlier report in `out` is replaced. Raises ValueError for what `load` refuses, and for a folder
    that holds something else; nothing is written then.
    """
    out = Path(out)
    old = _require_place(out)
    require_at_least(replay, 0, "--replays")
    require_at_least(draw, 0, "--draw")
    if coverage:
        require_rays()
    if parquet:
        require_parquet()
    analyses = [load(run, suite, check=check, draw=draw if check else 0) for run in runs]
    for note in dict.fromkeys(note for analysis in analyses for note in analysis.run.notes):
        print(note, file=sys.stderr)
    entries = make_entries(analyses)
    chosen = pairing(entries) if pairing else []
    entries = with_coverage(entries, progress=progress) if coverage else entries
    pairs = [(entries[first], entries[second]) for first, second in chosen]
    # The paper's collection is CC BY 3.0; the embedded icons are this project's own, and another game.
    real = any(row["icon"]["licence"] == "CC BY 3.0" for row in analyses[0].suite.info.rows)
    tables = collect(entries, paper=real if paper is None else paper)
    tables = (collect_pairs(pairs) if pairs else []) + tables
    pictures = figures(tables)
    title = title or "Analysis of " + ", ".join(f"{analysis.run.path.resolve().name}" for analysis in analyses)
    files: dict[str, bytes] = {}
    for table in tables:
        files |= table_files(table, parquet=parquet)
    for name, (_, png, svg) in pictures.items():
        files |= {f"{name}.png": png, f"{name}.svg": svg}
    files |= successor_files(entries, parquet=parquet) if successors else {}
    html = page(title, _facts(analyses, entries), tables, pictures, replays(entries, replay))
    return _write(out, old, files | {"index.html": html.encode()}, analyses)


def _facts(analyses: Sequence[Analysis], entries: Sequence[Entry]) -> list[tuple[str, str]]:
    identity, played = analyses[0].identity, {task for entry in entries for task in entry.method.tasks}
    return [
        ("suite", f"{identity['id']} version {identity['version']}"),
        ("sha256", str(identity["sha256"])[:16]),
        ("tasks", str(len(played))),
        ("episodes", str(sum(len(entry.method.episodes) for entry in entries))),
        ("rotations", str(sum(len(entry.method.steps) for entry in entries))),
        ("runs", ", ".join(str(analysis.run.path) for analysis in analyses)),
        ("rotajax", versions()["rotajax"]),
    ]


def _require_place(out: Path) -> list[str]:
    """Return the files of the report that is in a folder, none for a new or empty one. Raises ValueError otherwise."""
    require(not out.exists() or out.is_dir(), "report", "a folder", f"a file: '{out}'")
    if (out / META).is_file():
        try:
            meta = json.loads((out / META).read_bytes())
        except (ValueError, RecursionError):
            meta = {}
        got = meta.get("format") if isinstance(meta, dict) else "another file"
        require(got == FORMAT, f"'{out / META}': format", FORMAT, repr(got))
        # Names only, so that no file elsewhere can be meant.
        names = dict(meta).get("files")
        names = names if isinstance(names, list) else []
        return [name for name in names if isinstance(name, str) and Path(name).name == name]
    others = [p.name for p in out.iterdir() if not p.name.startswith(".")] if out.is_dir() else []
    require(
        not others, f"report '{out}'", "a new or empty folder, or an earlier report", f"one that holds {others[:1]}"
    )
    return []


def _write(out: Path, old: Sequence[str], files: dict[str, bytes], analyses: Sequence[Analysis]) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    meta = {
        "format": FORMAT,
        "suite": analyses[0].identity,
        "runs": [str(analysis.run.path) for analysis in analyses],
        "versions": versions(),
        "files": sorted({*files, *old}),
    }
    # First the list of what may be there: a kill in the middle leaves a folder that is known as a report.
    write_atomically(out / META, json.dumps(meta, indent=1) + "\n")
    for name, data in files.items():
        write_atomically(out / name, data)
    for name in set(old) - files.keys():
        (out / name).unlink(missing_ok=True)
    write_atomically(out / META, json.dumps(meta | {"files": sorted(files)}, indent=1) + "\n")
    return out / "index.html"
