"""`open_run`: a run folder that is written, started anew or gone on with."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rotajax.checks import require
from rotajax.files import take, write_atomically
from rotajax.records.lines import EpisodeKey, decode, encode, key_of, parse
from rotajax.records.log import Log
from rotajax.records.meta import FORMAT, META, read_meta, require_same, versions

EPISODES = "episodes.jsonl"


class RunWriter:
    """An open run folder; made by `open_run`. A context manager."""

    def __init__(self, path: Path, kept: "Kept", meta: dict | None = None):
        self.path = path
        self._meta = meta  # run.json to be written with the first line, where a run goes on
        self.done = set(kept.done)
        self.unfinished = kept.unfinished
        self.notes = tuple(kept.notes)
        self._log = Log(path / EPISODES, f"run '{path}'")

    def append(self, lines: Sequence[dict]) -> None:
        """Add lines and wait until they are on the disk; a write that fails leaves none of them behind.

        Raises OSError, with the folder in its message, where the disk is full or gone.
        """
        if self._meta is not None:
            _write_meta(self.path, self._meta)
            self._meta = None
        self._log.append(b"".join(encode(line) for line in lines))
        self.done.update(key_of(line) for line in lines if line["kind"] == "episode")

    def arrange(self, tasks: Sequence[str]) -> None:
        """Put the lines in the order of the tasks, where episodes that were played together stand mixed.

        Within a task by policy and seed. The same episodes then are the same file, whoever ended first.
        """
        file, place = self.path / EPISODES, {task: index for index, task in enumerate(tasks)}
        lines = [(key_of(decode(raw)), raw) for raw in file.read_bytes().splitlines(keepends=True)]
        ordered = sorted(lines, key=lambda line: (place[line[0].task], line[0].policy, line[0].seed))
        if ordered != lines:
            write_atomically(file, b"".join(raw for _, raw in ordered))
            old, self._log = self._log, Log(file, f"run '{self.path}'")
            old.close()

    def close(self) -> None:
        """Release the folder."""
        self._log.close()

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Kept(NamedTuple):
    """What an earlier run left in its folder."""

    done: Sequence[EpisodeKey] = ()
    unfinished: Mapping[EpisodeKey, list[dict]] = {}  # the decisions of episodes that go on
    notes: Sequence[str] = ()


def open_run(path: str | Path, asked: dict, *, device: str, keep_unfinished: bool = False) -> RunWriter:
    """Return the writer of a new run folder, or of one that was started with the same request and goes on.

    `asked` is the whole request as JSON values: suite (id, version, sha256), policies, seeds, limit, params. On going
    on, a torn last line and the decisions of unfinished episodes are cut off (see `RunWriter.notes`), or these are kept
    where `keep_unfinished` says so: in `RunWriter.unfinished`, for episodes that go on at the exact decision. Raises
    ValueError for a folder of another run or of something else, and for a damaged or duplicate line; nothing is
    written then.
    """
    path = Path(path)
    require(not path.exists() or path.is_dir(), "run", "a folder", f"a file: '{path}'")
    asked = json.loads(json.dumps(asked, allow_nan=False))
    now = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "device": device, "versions": versions()}
    if (path / META).exists():
        meta = read_meta(path)
        require_same(path, meta["asked"], asked)
        # Held while the file is repaired: the writer that opens it below takes the lock over.
        with (path / EPISODES).open("ab") as held:
            take(held.fileno(), f"run '{path}'")
            kept = _repair(path / EPISODES, keep_unfinished)
        same = all(now[k] == meta.get(k) for k in ("device", "versions"))
        meta["resumed"] = [*meta.get("resumed", []), now if not same else {"started": now["started"]}]
        return RunWriter(path, kept, meta)
    else:
        others = [p.name for p in path.iterdir() if not p.name.startswith(".")] if path.is_dir() else []
        got = f"a folder without {META} that holds {others[:1]}"
        require(not others, f"run '{path}'", "a new or empty folder, or a run to go on with", got)
        path.mkdir(parents=True, exist_ok=True)
        _write_meta(path, {"format": FORMAT, "asked": asked, **now})
        return RunWriter(path, Kept())


def _write_meta(path: Path, meta: dict) -> None:
    write_atomically(path / META, json.dumps(meta, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def _repair(file: Path, keep_unfinished: bool) -> Kept:
    """Cut off what a kill left unfinished, or a torn line alone; return what is there."""
    parsed = parse(file)
    notes = list(parsed.notes)
    open_ = parsed.decisions.keys() - parsed.ended.keys()
    data = file.read_bytes()[: parsed.kept]
    unfinished: dict[EpisodeKey, list[dict]] = {}
    if open_ and keep_unfinished:
        for line in map(decode, data.split(b"\n")[:-1]):
            if (key := key_of(line)) in open_:
                unfinished.setdefault(key, []).append(line)
    elif open_:
        notes.append(f"run '{file.parent}': {len(open_)} unfinished episodes are played again")
        lines = data.split(b"\n")[:-1]
        data = b"".join(raw + b"\n" for raw in lines if key_of(decode(raw)) not in open_)
    if notes:
        write_atomically(file, data)
    return Kept(list(parsed.ended), unfinished, notes)
