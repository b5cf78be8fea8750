"""Manifests: suites without their geometry, and the suite that the icons make of one again."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from rotajax.checks import require, require_file, require_folder
from rotajax.files import cache_folder
from rotajax.icons.cache import sha256
from rotajax.icons.pool import examine_all
from rotajax.tasks import folder
from rotajax.tasks.row import check_rows
from rotajax.tasks.select import select_test
from rotajax.tasks.suite import data_folder

# How many of the icons that are wrong a message names.
NAMED = 5
COMMIT = re.compile(r"[0-9a-f]{40}")


def manifests() -> dict[str, Path]:
    """Return the manifests that come with the package, by name."""
    return {path.stem: path for path in sorted(data_folder().glob("suites/*.json"))}


def read_manifest(source: str | Path) -> dict:
    """Return a manifest by name or path, its hashes and rows checked. Raises ValueError for what does not hold."""
    names = ", ".join(manifests()) or "none"
    path = manifests().get(str(source), Path(source))
    require(path.exists(), "manifest", f"a file or one of: {names}", f"nothing at '{source}'")
    manifest = folder.read_rows(require_file(path, "manifest"))
    name = f"manifest '{path}'"
    check_rows(manifest["tasks"], name)
    _check_source(manifest.get("source"), name)
    return manifest


def _check_source(source: object, name: str) -> None:
    """Raise ValueError unless a manifest's source is null or says where git finds the icons."""
    if source is None:
        return
    right = isinstance(source, dict) and isinstance(source.get("repository"), str)
    require(right, f"{name}: source", "null or a repository and a commit", repr(source))
    commit = source.get("commit")  # type: ignore[attr-defined]
    right = isinstance(commit, str) and COMMIT.fullmatch(commit) is not None
    require(right, f"{name}: source: commit", "40 hexadecimal digits", repr(commit))


def make_manifest(document: dict, seed: int, source: dict | None) -> dict:
    """Return the manifest of a searched suite: its rows with the split that each task belongs to (Appendix I).

    The test split is drawn by `seed` from the reference lengths, the rest is "train". Raises ValueError for a suite
    without reference paths or with too few tasks.
    """
    _check_source(source, "suite manifest")
    rows = [{k: v for k, v in row.items() if k not in ("digest", "split")} for row in document["tasks"]]
    for row in rows:
        require(row.get("reference") is not None, f"suite manifest: task {row['id']}", "a reference path", "none")
    test = set(select_test({row["id"]: len(row["reference"]) for row in rows}, seed))
    rows = [{**row, "split": "test" if row["id"] in test else "train"} for row in rows]
    return folder.make_document(document["id"], rows, version=document["version"], source=source)


def take_split(manifest: dict, split: str) -> dict:
    """Return the manifest of one split alone."""
    splits = sorted({row["split"] for row in manifest["tasks"] if "split" in row})
    require(split in splits, "manifest: split", f"one of {splits}", repr(split))
    rows = [{k: v for k, v in row.items() if k != "digest"} for row in manifest["tasks"] if row.get("split") == split]
    name = f"{manifest['id']}-{split}"
    return folder.make_document(name, rows, version=manifest["version"], source=manifest.get("source"))


def icons_folder(icons: str, source: dict | None) -> Path:
    """Return the folder of a manifest's icons: `icons` itself, or the checkout that git makes of it.

    `icons` is a folder, the address of a repository, or "git" for the address that the manifest names. A repository is
    fetched at the manifest's commit into the cache, once. Raises ValueError where git cannot.
    """
    if icons != "git" and "://" not in icons and not icons.endswith(".git"):
        return require_folder(icons, "materialise: --icons")
    require(source is not None, "materialise: --icons", "a folder: this manifest names no repository", repr(icons))
    address, commit = source["repository"] if icons == "git" else icons, source["commit"]  # type: ignore[index]
    if Path(address).exists():
        address = str(Path(address).resolve())  # git runs in the checkout
    checkout = cache_folder("checkouts") / commit
    if not (checkout / ".complete").exists():
        shutil.rmtree(checkout, ignore_errors=True)  # what a killed git left, its locks too
        checkout.mkdir(parents=True)
        for command in (
            ["init", "--quiet"],
            ["fetch", "--quiet", "--depth", "1", "--", address, commit],
            ["checkout", "--quiet", "--force", "FETCH_HEAD"],
        ):
            _git(checkout, command)
        (checkout / ".complete").touch()
    return checkout


def _git(checkout: Path, command: list[str]) -> None:
    try:
        done = subprocess.run(["git", *command], cwd=checkout, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ValueError("materialise: --icons: expected the program git, got none: give a folder of icons") from None
    said = done.stderr.strip().splitlines()
    require(done.returncode == 0, f"materialise: git {command[0]}", "success", said[-1] if said else done.returncode)


def materialise(
    manifest: dict, icons: Path, out: Path, *, split: str | None = None, workers: int | None = None
) -> dict:
    """Write the suite of a manifest from its icons and return its document; `split` keeps the rows of that split.

    Every icon's sha256 and every mask's is checked. Raises ValueError that names the icons that are missing or other
    ones, and tasks whose mask another rasteriser draws otherwise; nothing is written then.
    """
    manifest = manifest if split is None else take_split(manifest, split)
    rows = manifest["tasks"]
    masks = dict(_draw(rows, _read_icons(rows, icons), workers))
    folder.write_suite_whole(out, manifest, masks)
    return manifest


def _read_icons(rows: list[dict], icons: Path) -> dict[str, bytes]:
    """Return the icons' bytes by task id, or raise ValueError that names what is missing and what differs."""
    data: dict[str, bytes] = {}
    wrong: list[str] = []
    for row in rows:
        path, expected = row["icon"]["path"], row["icon"]["sha256"]
        file = icons / path
        if not file.resolve().is_relative_to(icons.resolve()):
            wrong.append(f"{path} lies outside the folder")
        elif not file.is_file():
            wrong.append(f"{path} is missing")
        elif sha256(content := file.read_bytes()) != expected:
            wrong.append(f"{path} has sha256 {sha256(content)[:12]}..., not {expected[:12]}...")
        else:
            data[row["id"]] = content
    more = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
    got = f"{len(wrong)} that are not: {'; '.join(wrong[:NAMED])}{more}"
    require(not wrong, f"materialise: icons in '{icons}'", f"the {len(rows)} icons of the manifest", got)
    return data


def _draw(rows: list[dict], data: dict[str, bytes], workers: int | None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the mask of every task, each the very one that the manifest names."""
    expected = {row["id"]: row for row in rows}
    jobs = examine_all(data.items(), workers=workers)
    for task, finding, bits in tqdm(jobs, "icons", len(rows), unit="icon", file=sys.stderr):
        name = f"materialise: task {task} ({expected[task]['icon']['path']})"
        require(bits is not None, name, "a drawing that passes the filters", finding["error"] or "a rejected one")
        mask = np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(512, 512).astype(np.bool_)  # type: ignore[arg-type]
        got = folder.mask_sha256(mask)
        wanted = f"the mask {expected[task]['mask_sha256'][:12]}... that the manifest was made with"
        require(got == expected[task]["mask_sha256"], name, wanted, f"{got[:12]}...: another version of cairo draws it")
        yield task, mask
