"""`table_files`: a table as Markdown, CSV, JSON and, where pyarrow is, Parquet."""

import csv
import io
import json
from importlib.util import find_spec

from rotajax.checks import require
from rotajax.reports.layout import Table, mark


def table_files(table: Table, *, parquet: bool = False) -> dict[str, bytes]:
    """Return the files of a table by name. CSV and Parquet have the low and high end of an interval as columns.

    Raises ValueError for Parquet where pyarrow is not installed.
    """
    rows = flat_rows(table)
    found = {
        f"{table.name}.md": markdown(table).encode(),
        f"{table.name}.csv": _csv(rows).encode(),
        f"{table.name}.json": (json.dumps(list(table.rows), indent=1, allow_nan=False) + "\n").encode(),
    }
    return found | ({f"{table.name}.parquet": parquet_bytes(rows)} if parquet else {})


def markdown(table: Table) -> str:
    """Return the table in Markdown, its title above and the reasons of its marks below."""
    cells, reasons = table.cells()
    head = [column.heading for column in table.columns]
    lines = [[_escape(text) for text in line] for line in [head, *cells]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    texts = [column.digits is None for column in table.columns]
    aligned = [[_align(*cell) for cell in zip(line, widths, texts, strict=True)] for line in lines]
    rule = ["-" * width if text else "-" * (width - 1) + ":" for width, text in zip(widths, texts, strict=True)]
    body = "\n".join("| " + " | ".join(line) + " |" for line in [aligned[0], rule, *aligned[1:]])
    notes = "".join(f"\n({mark(i)}) {reason}" for i, reason in enumerate(reasons))
    return f"# {table.title}\n\n{table.note}\n\n{body}\n" + (f"{notes}\n" if notes else "")


def flat_rows(table: Table) -> list[dict]:
    """Return the rows with every interval as `<key>_low` and `<key>_high`, the same keys in each."""
    keys = dict.fromkeys(key for row in table.rows for key in row)
    rows = []
    for row in table.rows:
        flat = {}
        for key in keys:
            if key.endswith("_ci95"):
                low, high = row.get(key) or (None, None)
                flat |= {f"{key[:-5]}_low": low, f"{key[:-5]}_high": high}
            else:
                flat[key] = row.get(key)
        rows.append(flat)
    return rows


def require_parquet() -> None:
    """Raise ValueError, with what to install, unless Parquet can be written here."""
    require(find_spec("pyarrow") is not None, "--parquet", "pyarrow (pip install 'rotajax[parquet]')", "none")


def _csv(rows: list[dict]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def parquet_bytes(rows: list[dict] | dict) -> bytes:
    """Return rows, or columns by name, as Parquet. Raises ValueError where pyarrow is not installed."""
    require_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table(rows) if isinstance(rows, dict) else pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _align(cell: str, width: int, text: bool) -> str:
    return cell.ljust(width) if text else cell.rjust(width)
