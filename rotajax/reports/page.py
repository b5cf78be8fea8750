"""`page`: one HTML file with tables, pictures and replays that needs nothing else, no network either."""

import base64
from collections.abc import Sequence

from rotajax.reports.layout import Table, mark

# Shown by the page's own list, which sorts, searches and opens them a part at a time.
_LISTED = "episodes"
# Data of a picture, not a table to read.
_HIDDEN = ("curves",)


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    tables: Sequence[Table],
    figures: dict[str, tuple[str, bytes, bytes]],
    replays: dict | None,
) -> str:
    """Return the HTML text.

    facts: names and values under the title; figures: as of `figures`; replays: as of `replays`. All text is escaped
    by the template engine, data by its JSON filter.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rotajax.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    shown = [_shown(table) for table in tables if table.name not in (_LISTED, *_HIDDEN)]
    listed = next((table for table in tables if table.name == _LISTED), None)
    episodes = (
        None
        if listed is None
        else {
            "columns": [column._asdict() for column in listed.columns],
            "rows": [[row.get(column.key) for column in listed.columns] for row in listed.rows],
        }
    )
    pictures = [(name, text, base64.b64encode(svg).decode()) for name, (text, _, svg) in figures.items()]
    return environment.get_template("page.html").render(
        title=title, facts=facts, tables=shown, pictures=pictures, episodes=episodes, replays=replays
    )


def _shown(table: Table) -> dict:
    cells, reasons = table.cells()
    body = [
        {
            "paper": bool(row.get("paper")),
            "cells": [
                {
                    "text": text.split(" [")[0],
                    "interval": _interval(text),
                    "value": row.get(column.key),
                    "number": column.digits is not None,
                }
                for text, column in zip(line, table.columns, strict=True)
            ],
        }
        for row, line in zip(table.rows, cells, strict=True)
    ]
    notes = [f"({mark(index)}) {reason}" for index, reason in enumerate(reasons)]
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "columns": table.columns,
        "rows": body,
        "notes": notes,
    }


def _interval(text: str) -> str:
    return "[" + text.split(" [", 1)[1] if " [" in text else ""
