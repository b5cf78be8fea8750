"""`Store`: the run folder of a solver: every answer and every decision is on the disk before anything follows from it.

Beside the files of `records` it has answers.jsonl, every answer as it came, malformed ones as well; preflight.jsonl,
those to what was asked before the first question; failures.jsonl, the failures that were not the solver's; and panels/,
the pictures, each once under its hash.
"""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rotajax.records import EpisodeKey, open_run
from rotajax.records.lines import encode, key_of
from rotajax.records.log import Log
from rotajax.solvers.picture import read_panel
from rotajax.solvers.question import Journal, Panel
from rotajax.solvers.reply import InfrastructureError

ANSWERS, PREFLIGHT, FAILURES, PANELS = "answers.jsonl", "preflight.jsonl", "failures.jsonl", "panels"


class Store:
    """An open run folder of a solver. A context manager; see `open_run` for what is refused."""

    def __init__(self, path: Path, asked: dict, *, device: str):
        self.path = path
        self._run = open_run(path, asked, device=device, keep_unfinished=True)
        self._logs: dict[str, Log] = {}
        try:
            for name in (ANSWERS, PREFLIGHT, FAILURES):
                self._logs[name] = Log(path / name, f"run '{path}'")
            self.spent = self.dearest = 0.0  # of all answers so far, and of one
            self.earlier = self._read_answers()
            for cost in _lines(path / PREFLIGHT, lambda line: line["cost"]):
                self._count(cost)
        except BaseException:
            self.__exit__()
            raise
        (path / PANELS).mkdir(exist_ok=True)
        for torn in (path / PANELS).glob(".panel.*"):
            torn.unlink()
        self._waiting: list[tuple[str, list[dict], asyncio.Future]] = []
        self._writing: asyncio.Task | None = None
        self._thread = ThreadPoolExecutor(1, "store")

    @property
    def notes(self) -> tuple[str, ...]:
        """What was repaired, in words."""
        return self._run.notes

    @property
    def done(self) -> set[EpisodeKey]:
        """The episodes that have ended."""
        return self._run.done

    @property
    def unfinished(self) -> dict[EpisodeKey, list[dict]]:
        """The decisions of the episodes that an earlier run left open."""
        return dict(self._run.unfinished)

    async def add(self, lines: list[dict]) -> None:
        """Add lines of decisions and episodes; returns once they are on the disk."""
        await self._commit("run", lines)

    async def fail(self, key: EpisodeKey, t: int, error: InfrastructureError) -> None:
        """Note a failure that was not the solver's: the episode stays open."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        await self._commit(FAILURES, [{**key._asdict(), "t": t, "failure": error.kind, "detail": str(error), "at": at}])

    def journal(self, key: EpisodeKey, t: int) -> Journal:
        """Return the journal of a decision, with the answers that an earlier run got for it."""
        earlier = self.earlier.pop(key, [])
        here = [answer for answer in earlier if answer["t"] == t]
        return _DiskJournal(self, ANSWERS, {**key._asdict(), "t": t}, here)

    def preflight(self) -> Journal:
        """Return the journal of what is asked before the first question."""
        return _DiskJournal(self, PREFLIGHT, {}, ())

    def put_panel(self, panel: Panel, *, anew: bool = False) -> None:
        """Keep a picture under its hash, whole or not at all; `anew` in place of a damaged one.

        It is not waited for: one that is lost with the machine's power is drawn again from its pose.
        """
        path = self._panel(panel.sha256)
        if path.exists() and not anew:
            return
        temporary = path.parent / f".panel.{threading.get_ident()}"
        temporary.write_bytes(panel.png)
        os.replace(temporary, path)

    def get_panel(self, sha256: str) -> Panel:
        """Return a picture by its hash. Raises ValueError where it is not there or is damaged."""
        return read_panel(self._panel(sha256), sha256)

    def arrange(self, tasks: list[str]) -> None:
        """Put the lines in the order of the tasks: the same answers give the same file in whatever order they came."""
        self._run.arrange(tasks)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "_thread"):
            self._thread.shutdown()
        for log in self._logs.values():
            log.close()
        self._run.close()

    def _panel(self, sha256: str) -> Path:
        return self.path / PANELS / f"{sha256}.png"

    async def _commit(self, where: str, lines: list[dict]) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((where, lines, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        await future

    async def _write_all(self) -> None:
        """Write what is waiting, and what comes meanwhile: one wait for the disk serves all that came together."""
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._write, group)
                failure = None
            except (OSError, ValueError, TypeError) as error:
                failure = error
            for _, _, future in group:
                if not future.done():
                    future.set_result(None) if failure is None else future.set_exception(failure)

    def _write(self, group: list[tuple[str, list[dict], asyncio.Future]]) -> None:
        found: dict[str, list[dict]] = {}
        for where, lines, _ in group:
            found.setdefault(where, []).extend(lines)
        for name, log in self._logs.items():
            if name in found:
                log.append(b"".join(map(encode, found[name])))
        if "run" in found:
            self._run.append(found["run"])

    def _read_answers(self) -> dict[EpisodeKey, list[dict]]:
        """Return the answers of open decisions, and add up what all answers cost; cut a torn last line off."""
        open_: dict[EpisodeKey, list[dict]] = {}
        for key, t, line in _lines(self.path / ANSWERS, lambda line: (key_of(line), line["t"], line)):
            self._count(line.get("cost"))
            if key not in self.done and t == len(self._run.unfinished.get(key, ())):
                open_.setdefault(key, []).append(line)
        return open_

    def _count(self, cost: float | None) -> None:
        self.spent, self.dearest = self.spent + (cost or 0.0), max(self.dearest, cost or 0.0)


class _DiskJournal(Journal):
    def __init__(self, store: Store, where: str, told: dict, earlier: Sequence[dict]):
        super().__init__(earlier)
        self._store, self._where, self._told = store, where, told

    async def add(self, answer: dict) -> None:
        await self._store._commit(self._where, [{**self._told, **answer}])
        self.added.append(answer)


def _lines(file: Path, read: Callable[[dict], Any]) -> Iterator[Any]:
    """Yield what is read of the answers of a file; cut a torn last line off. Raises ValueError for other lines."""
    with file.open("r+b") as lines:
        kept = 0
        for number, raw in enumerate(lines, 1):
            if not raw.endswith(b"\n"):
                break
            kept += len(raw)
            try:
                found = read(json.loads(raw))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise ValueError(f"'{file}' line {number}: expected an answer in JSON, got {error!r}") from None
            yield found
        lines.truncate(kept)
