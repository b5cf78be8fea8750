"""`decision_field` and `episode_field`: fields that solvers add to the lines of a run, as columns."""

import re
from collections.abc import Iterator
from typing import Any

from rotajax.records import EpisodeKey, Run
from rotajax.records.lines import decode, key_of

_EPISODE = re.compile(rb'"kind"\s*:\s*"episode"')


def decision_field(run: Run, name: str) -> list[Any]:
    """Return a field of every decision of a run, N values; None where a line has none."""
    column: list[Any] = [None] * len(run.decisions)
    for row, line in _lines(run, name):
        if line["kind"] == "decision":
            column[int(run.episodes.first[row]) + line["t"]] = line.get(name)
    return column


def episode_field(run: Run, name: str) -> list[Any]:
    """Return a field of every episode of a run, E values; None where a line has none."""
    column: list[Any] = [None] * len(run.episodes)
    for row, line in _lines(run, name, only=_EPISODE):
        if line["kind"] == "episode":
            column[row] = line.get(name)
    return column


def _lines(run: Run, name: str, *, only: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, dict]]:
    """Yield the lines of a run's episodes that may have the field, with the row of the episode."""
    episodes, field = run.episodes, f'"{name}"'.encode()
    names = zip(episodes.task.tolist(), episodes.policy.tolist(), episodes.seed.tolist(), strict=True)
    rows = {EpisodeKey(run.tasks[t], run.policies[p], seed): row for row, (t, p, seed) in enumerate(names)}
    with (run.path / "episodes.jsonl").open("rb") as file:
        for raw in file:
            if field not in raw or not raw.endswith(b"\n") or (only and not only.search(raw)):
                continue
            line = decode(raw)
            row = rows.get(key_of(line))
            if row is not None:
                yield row, line
