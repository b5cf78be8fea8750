"""Findings kept between runs by the content of the SVG and all that decides them; a damaged one counts as none."""

import base64
import binascii
import hashlib
import inspect
import json
import os
import tempfile
import zlib
from importlib import import_module
from pathlib import Path

from rotajax.files import cache_folder
from rotajax.icons.svg import rasteriser_version

CODE = ("svg", "foreground", "outline", "filters", "worker")  # the modules that decide a finding
PASSING = ("time", "memory", "crash")  # errors that another machine, or the same one tomorrow, may not see


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


class Cache:
    """Findings under `folder`, by default ~/.cache/rotajax/icons (XDG_CACHE_HOME respected).

    A finding is found again as long as the rasteriser's versions and the code of the filters are the same.
    """

    def __init__(self, folder: Path | None = None):
        code = "".join(inspect.getsource(import_module(f"rotajax.icons.{name}")) for name in CODE)
        self.version = sha256("\n".join([*rasteriser_version(), code]).encode())
        self.folder = Path(folder) if folder is not None else cache_folder("icons")

    def path(self, digest: str) -> Path:
        """Return the file of the finding about the SVG with this SHA-256."""
        name = sha256(f"{self.version}{digest}".encode())
        return self.folder / name[:2] / f"{name}.json"

    def get(self, digest: str) -> tuple[dict, bytes | None] | None:
        """Return (finding, packed mask or None) about the SVG with this SHA-256, or None."""
        try:
            entry = json.loads(self.path(digest).read_bytes())
            seal = entry.pop("seal")
            if seal != _seal(entry) or entry["sha256"] != digest:
                return None
            mask = entry["mask"] and zlib.decompress(base64.b64decode(entry["mask"]))
            return entry["finding"], mask
        except (OSError, ValueError, KeyError, TypeError, AttributeError, binascii.Error, zlib.error):
            return None

    def put(self, digest: str, finding: dict, mask: bytes | None) -> None:
        """Keep a finding; a folder that cannot be written costs time in the next run and nothing else."""
        if finding["error"] in PASSING:
            return
        packed = mask and base64.b64encode(zlib.compress(mask)).decode()
        entry = {"sha256": digest, "finding": finding, "mask": packed}
        path = self.path(digest)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not waiting for the disk, as 4,000 such waits would: the seal finds a torn file out.
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "w") as file:
                json.dump({**entry, "seal": _seal(entry)}, file)
            os.replace(temporary, path)
        except OSError:
            return


def _seal(entry: dict) -> str:
    return sha256(json.dumps(entry, sort_keys=True).encode())
