"""Icon records of a folder: every .svg file accepted, or rejected with a reason, with author, licence and measures."""

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from rotajax.checks import require, require_at_least, require_folder
from rotajax.files import write_atomically
from rotajax.icons.cache import Cache, sha256
from rotajax.icons.filters import Measures, judge
from rotajax.icons.licence import UNLISTED, Credit, credit, read_licences
from rotajax.icons.pool import examine_all
from rotajax.icons.svg import MAX_BYTES, SvgError, rasteriser_version

FORMAT = "rotajax.icons/1"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class IconRecord:
    """An icon of a scan; `path` is relative to the scanned folder, with / between its parts.

    status is "accepted" or "rejected"; reason is None, or the code: one of `svg.SvgError`, "time", "crash",
    "name" (not UTF-8), "not_a_file", "unreadable", "licence" (the folder is not listed) or a filter of
    `filters.judge`. message says in a line what the reason means, where the measures do not. The measures are those
    of `filters.Measures`, None without a picture.
    """

    path: str
    author: str
    licence: str
    sha256: str | None
    status: str
    reason: str | None
    message: str | None
    foreground: int | None
    component_ratio: float | None
    circle_occupancy: float | None
    box_occupancy: float | None
    aspect: float | None


def scan(
    folder: str | Path,
    *,
    workers: int | None = None,
    cache: Path | str | bool | None = None,
    progress: Progress | bool = True,
    allow_unlisted: bool = False,
) -> list[IconRecord]:
    """Return a record of every .svg file below `folder`, sorted by path; the same one for every number of workers.

    workers: processes, all cores by default. cache: a folder for the findings, by default one under ~/.cache/rotajax;
    False for none. progress: called with (done, total); True shows a bar with an
    estimate on standard error. allow_unlisted: accept also
    icons of folders that license.txt does not list (without that file: every folder). A link to a folder is not
    followed. Raises ValueError for a missing folder, a file in its place, no .svg file, a broken license.txt, and a
    machine without cairo.
    """
    folder = require_folder(folder, "icons scan")
    if workers is not None:
        require_at_least(workers, 1, "icons scan: workers")
    rasteriser_version()
    credits = read_licences(folder)
    paths = sorted(_svg_files(folder))
    require(len(paths) > 0, "icons scan", "a folder with .svg files", f"none below '{folder}'")
    bar = tqdm(total=len(paths), desc="icons", unit="icon", file=sys.stderr, disable=progress is not True)
    store = _store(cache)
    records: dict[str, IconRecord] = {}

    def settle(path: str, digest: str | None, finding: dict) -> None:
        shown = _shown(path)
        records[path] = _record(shown, credit(shown, credits), digest, finding, allow_unlisted)
        bar.update()
        if callable(progress):
            progress(len(records), len(paths))

    def unknown() -> Iterator[tuple[tuple[str, str], bytes]]:
        for path in paths:
            try:
                _require_text(path)
                data = _read(folder / path)
            except SvgError as error:
                settle(path, None, {"error": error.code, "message": str(error), "measures": None})
                continue
            digest = sha256(data)
            known = store and store.get(digest)
            if known:
                settle(path, digest, known[0])
            else:
                yield (path, digest), data

    with bar:
        for (path, digest), finding, mask in examine_all(unknown(), workers=workers):
            if store:
                store.put(digest, finding, mask)
            settle(path, digest, finding)
    return [records[path] for path in paths]


def accepted_mask(path: str | Path, *, cache: Path | str | bool | None = None) -> np.ndarray:
    """Return the mask Bool[512, 512] of the SVG file at `path`, which passes the filters; cheap after a `scan`.

    cache: as in `scan`. Raises ValueError for a file that cannot be drawn or does not pass the filters.
    """
    data = _read(Path(path))
    store = _store(cache)
    known = store and store.get(sha256(data))
    if known:
        finding, bits = known
    else:
        _, finding, bits = next(examine_all([(path, data)], workers=1))
        if store:
            store.put(sha256(data), finding, bits)
    if bits is None:
        got = finding["error"] or judge(Measures(**finding["measures"]))
        raise ValueError(f"icons.accepted_mask: expected an icon that passes the filters, got {got}: '{path}'")
    return np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(512, 512).astype(np.bool_)


def require_output(out: str | Path) -> Path:
    """Return `out` if a scan can be written there: a new file in a folder that is there, or an earlier scan."""
    out = Path(out)
    require(out.parent.is_dir(), "icons scan: --json", "a file in an existing folder", f"no folder '{out.parent}'")
    require(not out.is_dir(), "icons scan: --json", "a file", f"a folder: '{out}'")
    target = out if out.exists() else out.parent
    writable = os.access(out.parent, os.W_OK) and os.access(target, os.W_OK)
    require(writable, "icons scan: --json", "a file that can be written", f"one that cannot: '{out}'")
    if out.exists():
        require(_is_scan(out), "icons scan: --json", "a new file or an earlier scan", f"another file: '{out}'")
    return out


def write_scan(records: list[IconRecord], out: str | Path) -> Path:
    """Write the records as JSON, all or nothing, in the format "rotajax.icons/1", and return the path.

    The bytes depend on the records and the rasteriser's version only. Raises ValueError as `require_output`.
    """
    out = require_output(out)
    icons = [asdict(record) for record in sorted(records, key=lambda record: record.path)]
    document = {"format": FORMAT, "rasteriser": rasteriser_version()[0], "icons": icons}
    write_atomically(out, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return out


def read_scan(path: str | Path) -> list[IconRecord]:
    """Return the records that `write_scan` wrote; ValueError for another file."""
    path = Path(path)
    require(_is_scan(path), "icons.read_scan", f"a file of the format {FORMAT!r}", f"another file: '{path}'")
    names = [field.name for field in fields(IconRecord)]
    icons = json.loads(path.read_text(encoding="utf-8"))["icons"]
    return [IconRecord(**{name: icon.get(name) for name in names}) for icon in icons]


def _store(cache: Path | str | bool | None) -> Cache | None:
    return None if cache is False else Cache(None if cache in (None, True) else Path(cache))


def _is_scan(path: Path) -> bool:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _svg_files(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            if name.lower().endswith(".svg"):
                yield Path(root, name).relative_to(folder).as_posix()


def _require_text(path: str) -> None:
    """Raise SvgError for a name that no JSON in UTF-8 can hold, and so nobody could find again."""
    if _shown(path) != path:
        raise SvgError("name", "expected a file name in UTF-8, got other bytes, shown here as \\x and two digits")


def _shown(path: str) -> str:
    """Return a path as text: bytes that are not UTF-8, which Python reads as lone surrogates, are written out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _read(path: Path) -> bytes:
    """Return the bytes of a file; SvgError, with a code, where there are none to examine."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SvgError("not_a_file", "expected a file, got a folder or a device")
        if status.st_size > MAX_BYTES:
            raise SvgError("too_many_bytes", f"expected at most {MAX_BYTES} bytes, got {status.st_size}")
        return path.read_bytes()
    except OSError as error:
        raise SvgError("unreadable", f"expected a file that can be read, got: {error.strerror}") from None


def _record(path: str, by: Credit, digest: str | None, finding: dict, allow_unlisted: bool) -> IconRecord:
    measures: dict[str, Any] = finding["measures"] or dict.fromkeys(field.name for field in fields(Measures))
    reason, message = finding["error"], finding["message"]
    if reason is None and by.licence == UNLISTED and not allow_unlisted:
        reason, message = "licence", f"icons.licence: expected a folder that license.txt lists, got {by.author!r}"
    elif reason is None:
        reason = judge(Measures(**measures))
        if reason == "empty":
            # Equation 9 compares colours, and nothing at all counts as black.
            message = "icons.filters: expected a drawing that differs from its background, got none (black on nothing?)"
    return IconRecord(
        path=path,
        author=by.author,
        licence=by.licence,
        sha256=digest,
        status="rejected" if reason else "accepted",
        reason=reason,
        message=message,
        **measures,
    )
