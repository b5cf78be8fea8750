"""The suite folder on disk: suite.json, one 1-bit PNG mask a task, attribution, and the hashes over all of it."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from rotajax.checks import require, require_folder
from rotajax.files import write_atomically
from rotajax.tasks.row import check_rows

FORMAT = "rotajax.suite/1"
MASKS = "masks"


def canonical(value: object) -> bytes:
    """Return the JSON bytes that hashes are taken of: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()


def mask_sha256(mask: np.ndarray) -> str:
    """Return the hash of a mask's bits, row by row: of the geometry, not of the PNG's compression."""
    return hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()


def row_digest(row: dict) -> str:
    """Return the hash of a task's row without its own digest."""
    return hashlib.sha256(canonical({k: v for k, v in row.items() if k != "digest"})).hexdigest()


def document_sha256(document: dict) -> str:
    """Return the hash over a suite: its document without the hash itself; the rows hold the masks' hashes."""
    return hashlib.sha256(canonical({k: v for k, v in document.items() if k != "sha256"})).hexdigest()


def make_document(suite_id: str, rows: list[dict], *, version: int = 1, source: dict | None = None) -> dict:
    """Return the suite document over finished rows, with every hash; `source` says where its icons come from."""
    rows = [{**row, "digest": row_digest(row)} for row in rows]
    document = {"format": FORMAT, "id": suite_id, "version": version, "source": source, "tasks": rows}
    return {**document, "sha256": document_sha256(document)}


def write_suite_whole(path: Path, document: dict, masks: dict[str, np.ndarray]) -> None:
    """Write a suite folder that is there whole or not at all. Raises ValueError unless `path` is new or empty."""
    require_free(path)
    partial = path.with_name(f".{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    write_suite(partial, document, masks)
    if path.is_dir():
        path.rmdir()
    os.replace(partial, path)


def require_free(path: Path) -> None:
    """Raise ValueError unless nothing is at `path` or an empty folder."""
    require(not path.is_file(), "suite: --out", "a new or empty folder", f"a file: '{path}'")
    empty = not path.exists() or not any(path.iterdir())
    require(empty, "suite: --out", "a new or empty folder", f"a folder with files in it: '{path}'")
    path.parent.mkdir(parents=True, exist_ok=True)


def write_suite(path: Path, document: dict, masks: dict[str, np.ndarray]) -> None:
    """Write a suite folder: the masks by task id first, the attribution, and suite.json last."""
    (path / MASKS).mkdir(parents=True, exist_ok=True)
    for row in document["tasks"]:
        image = Image.fromarray(masks[row["id"]].astype(np.uint8) * 255).convert("1")
        image.save(path / MASKS / f"{row['id']}.png", optimize=True)
    write_atomically(path / "ATTRIBUTION.md", attribution(document))
    write_atomically(path / "suite.json", document_text(document))


def document_text(document: dict) -> str:
    """Return the text of suite.json: the header, then a line a task."""
    head = {k: v for k, v in document.items() if k != "tasks"}
    rows = ",\n".join("  " + json.dumps(row, allow_nan=False, ensure_ascii=False) for row in document["tasks"])
    text = json.dumps(head, indent=1, allow_nan=False, ensure_ascii=False)
    return text[: text.rindex("\n")] + ',\n "tasks": [\n' + rows + "\n ]\n}\n"


def attribution(document: dict) -> str:
    """Return the attribution that the icons' licences ask for."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in document["tasks"]:
        icon = row["icon"]
        groups.setdefault((icon["author"], icon["licence"]), []).append(icon["path"])
    lines = [f"# Icons of the suite {document['id']}", "", "Icons made by " + ", ".join(sorted({a for a, _ in groups}))]
    lines[-1] += ". The solids of this suite are made from them; nothing else of the icons is kept."
    for (author, licence), paths in sorted(groups.items()):
        lines += ["", f"## {author} ({licence})", ""] + [f"- {path}" for path in paths]
    return "\n".join(lines) + "\n"


def read_document(path: Path) -> dict:
    """Return suite.json, checked: format, every hash, what a row needs. Raises ValueError naming the task."""
    require_folder(path, "suite")
    file = path / "suite.json"
    require(file.is_file(), f"suite '{path}'", "a file suite.json in it", "none")
    document = read_rows(file)
    check_rows(document["tasks"], f"suite '{path}'")
    return document


def read_rows(file: Path) -> dict:
    """Return the document of a suite.json or of a manifest, every hash of it checked."""
    try:
        document = json.loads(file.read_bytes(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"suite '{file}': expected JSON in UTF-8, got {error}") from None
    require(isinstance(document, dict), f"suite '{file}'", "a JSON object", type(document).__name__)
    require(document.get("format") == FORMAT, f"suite '{file}': format", FORMAT, repr(document.get("format")))
    rows = document.get("tasks")
    for key in ("id", "version"):
        require(key in document, f"suite '{file}': {key}", "a value", "nothing")
    require(isinstance(rows, list), f"suite '{file}': tasks", "a list of tasks", type(rows).__name__)
    require(len(rows) > 0, f"suite '{file}': tasks", "a list of tasks", "an empty list")
    for number, row in enumerate(rows):
        name = row.get("id", f"number {number}") if isinstance(row, dict) else f"number {number}"
        require(isinstance(row, dict), f"suite '{file}': task {name}", "an object", type(row).__name__)
        got = row_digest(row)
        require(
            row.get("digest") == got, f"suite '{file}': task {name} was changed: digest", str(row.get("digest")), got
        )
    got = document_sha256(document)
    require(document.get("sha256") == got, f"suite '{file}' was changed: sha256", str(document.get("sha256")), got)
    return document


def _no_number(name: str) -> None:
    raise ValueError(f"{name}, which is no JSON number")


def read_mask(path: Path, row: dict) -> np.ndarray:
    """Return the mask of a task, Bool[512, 512], checked against its hash. Raises ValueError naming the task."""
    file = path / MASKS / f"{row['id']}.png"
    try:
        with Image.open(file) as image:
            mask = np.asarray(image.convert("1"), np.bool_)
    except FileNotFoundError:
        raise ValueError(f"suite '{path}': task {row['id']}: expected its mask {file.name}, got nothing") from None
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"suite '{path}': task {row['id']}: expected a PNG mask, got {error}") from None
    got = mask_sha256(mask)
    name = f"suite '{path}': task {row['id']} was changed: mask"
    require(got == row["mask_sha256"], name, f"sha256 {row['mask_sha256']}", got)
    return mask
