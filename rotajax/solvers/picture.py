"""`make_panel`: the pictures of a turn as one lossless RGB PNG, and its hash."""

import hashlib
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from rotajax.checks import require
from rotajax.render.panel import STRIP, STRIP_GREY
from rotajax.solvers.question import Panel
from rotajax.types import Bool, UInt8

try:  # of the extra `solvers`: 0.9 ms a panel and 24.8 kB instead of 2.2 ms and 27.7 kB
    from zlib_ng import zlib_ng as _fast
except ModuleNotFoundError:
    _fast = None
_UP = 2  # the filter's number in PNG: rows as differences to the row above
_kept = threading.local()
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def make_panel(
    target: Bool[np.ndarray, "H W"], view: UInt8[np.ndarray, "H W"] | None, current: Bool[np.ndarray, "H W"]
) -> Panel:
    """Return target | auxiliary view | current, 972 x 320 (Appendix G); target | current, 646 x 320, without a view."""
    strip = np.full((len(target), STRIP), STRIP_GREY, np.uint8)
    left, right = (mask * np.uint8(255) for mask in (target, current))
    middle = [] if view is None else [view, strip]
    png = encode_png(np.concatenate([left, strip, *middle, right], axis=1))
    return Panel(png, hashlib.sha256(png).hexdigest())


def encode_png(grey: UInt8[np.ndarray, "H W"]) -> bytes:
    """Return a grey picture as an RGB PNG of 8 bits a channel. The same picture, compressor and kind of
    processor give the same bytes.
    """
    height, width = grey.shape
    difference = grey.copy()
    difference[1:] -= grey[:-1]
    rows = _rows(height, 1 + 3 * width)
    rows[:, 0] = _UP
    for channel in range(3):  # three strided writes are a third of one broadcast over the last axis
        rows[:, 1 + channel :: 3] = difference
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    deflate = compressor()
    data = deflate.compress(rows.data) + deflate.flush()
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def compressor() -> Any:
    """Return a fresh compressor: zlib-ng where it is installed, else zlib that looks for runs of equal bytes only."""
    return _fast.compressobj(2) if _fast else zlib.compressobj(1, strategy=zlib.Z_RLE)


def _rows(height: int, width: int) -> np.ndarray:
    """Return a megabyte of this thread's own: fresh memory costs a third of the encoding."""
    rows = getattr(_kept, "rows", None)
    if rows is None or rows.shape != (height, width):
        rows = _kept.rows = np.empty((height, width), np.uint8)
    return rows


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def read_panel(path: Path, sha256: str) -> Panel:
    """Return a stored panel. Raises ValueError where the file is not there or is not what its hash says."""
    try:
        png = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"panel '{path}': expected a file, got nothing") from None
    got = hashlib.sha256(png).hexdigest()
    require(got == sha256, f"panel '{path}': sha256", sha256, got)
    return Panel(png, sha256)
