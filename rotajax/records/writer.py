"""`open_run`: a run folder that is written, started anew or gone on with."""

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rotajax.checks import require
from rotajax.files import take, write_atomically
from rotajax.records.lines import EpisodeKey, decode, encode, key_of, parse
from rotajax.records.meta import FORMAT, META, read_meta, require_same, versions


class RunWriter:
    """An open run folder; made by `open_run`. A context manager."""

    def __init__(self, path: Path, done: Iterable[EpisodeKey], notes: Sequence[str], meta: dict | None = None):
        self.path = path
        self._meta = meta  # run.json to be written with the first line, where a run goes on
        self.done = set(done)
        self.notes = tuple(notes)
        self._handle = os.open(path / "episodes.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            take(self._handle, f"run '{path}'")
        except BaseException:
            os.close(self._handle)
            raise

    def append(self, lines: Sequence[dict]) -> None:
        """Add lines and wait until they are on the disk; a write that fails leaves none of them behind.

        Raises OSError, with the folder in its message, where the disk is full or gone.
        """
        if self._meta is not None:
            _write_meta(self.path, self._meta)
            self._meta = None
        data = memoryview(b"".join(encode(line) for line in lines))
        start = os.fstat(self._handle).st_size
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, start)
            raise OSError(error.errno, f"{error.strerror}; the episodes before it are kept", str(self.path)) from None
        self.done.update(key_of(line) for line in lines if line["kind"] == "episode")

    def close(self) -> None:
        """Release the folder."""
        os.close(self._handle)

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_run(path: str | Path, asked: dict, *, device: str) -> RunWriter:
    """Return the writer of a new run folder, or of one that was started with the same request and goes on.

    `asked` is the whole request as JSON values: suite (id, version, sha256), policies, seeds, limit, params. On going
    on, a torn last line and the decisions of unfinished episodes are cut off (see `RunWriter.notes`). Raises
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
        with (path / "episodes.jsonl").open("ab") as held:
            take(held.fileno(), f"run '{path}'")
            done, notes = _repair(path / "episodes.jsonl")
        same = all(now[k] == meta.get(k) for k in ("device", "versions"))
        meta["resumed"] = [*meta.get("resumed", []), now if not same else {"started": now["started"]}]
        return RunWriter(path, done, notes, meta)
    else:
        others = [p.name for p in path.iterdir() if not p.name.startswith(".")] if path.is_dir() else []
        got = f"a folder without {META} that holds {others[:1]}"
        require(not others, f"run '{path}'", "a new or empty folder, or a run to go on with", got)
        path.mkdir(parents=True, exist_ok=True)
        _write_meta(path, {"format": FORMAT, "asked": asked, **now})
        return RunWriter(path, (), ())


def _write_meta(path: Path, meta: dict) -> None:
    write_atomically(path / META, json.dumps(meta, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def _repair(file: Path) -> tuple[list[EpisodeKey], list[str]]:
    """Cut off what a kill left unfinished; return the episodes that are done."""
    parsed = parse(file)
    notes = list(parsed.notes)
    unfinished = parsed.decisions.keys() - parsed.ended.keys()
    data = file.read_bytes()[: parsed.kept]
    if unfinished:
        notes.append(f"run '{file.parent}': {len(unfinished)} unfinished episodes are played again")
        lines = data.split(b"\n")[:-1]
        data = b"".join(raw + b"\n" for raw in lines if key_of(decode(raw)) not in unfinished)
    if notes:
        write_atomically(file, data)
    return list(parsed.ended), notes
