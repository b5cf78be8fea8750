"""`read_pictures`: pictures out of a sandbox, decoded and written anew inside it: the host decodes none of them."""

import base64
import json
import struct
from collections.abc import Sequence
from typing import NamedTuple

from rotajax.solvers.agents.sandbox import Sandbox

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
# Pixels of the longer side, and bytes, of a picture that is shown.
LONGEST_SIDE, LARGEST = 2048, 3 << 20
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SECONDS = 60.0

# Runs in the sandbox, where a picture that breaks the decoder breaks nothing else. One line of JSON a picture, with its
# number: a decoder's own complaints come between.
_CODE = """
import base64, io, json, os, stat, sys, warnings
from PIL import Image
warnings.simplefilter("ignore")
for number, name in enumerate({names}):
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a file")
        with os.fdopen(handle, "rb") as file, Image.open(file) as picture:
            picture.thumbnail(({side}, {side}))
            out = io.BytesIO()
            picture.convert("RGB").save(out, "PNG")
        if out.tell() > {largest}:
            raise OSError(f"{{out.tell()}} bytes as PNG are too many")
        line = {{"png": base64.b64encode(out.getvalue()).decode()}}
    except Exception as error:
        line = {{"error": str(error)[:200] or type(error).__name__}}
    print(json.dumps({{"number": number, **line}}), flush=True)
"""


class Picture(NamedTuple):
    """A picture as PNG, or why there is none."""

    name: str
    png: bytes | None
    error: str = ""


async def read_pictures(box: Sandbox, names: Sequence[str]) -> list[Picture]:
    """Return files of a workspace as pictures: RGB, no side longer than LONGEST_SIDE, in the order of their names."""
    if not names:
        return []
    code = _CODE.format(names=list(names), side=LONGEST_SIDE, largest=LARGEST)
    outcome = await box.run(code, seconds=_SECONDS, output_bytes=2 * LARGEST * len(names))
    lines = outcome.output.splitlines()
    return [_picture(name, number, lines, outcome.ended) for number, name in enumerate(names)]


def _picture(name: str, number: int, lines: Sequence[str], ended: str) -> Picture:
    """Return what the line of a picture says, without trusting it: the decoder may have been broken."""
    mark = f'{{"number": {number}, '
    try:
        said = json.loads(next((line for line in lines if line.startswith(mark)), ""))
        if "error" in said:
            return Picture(name, None, " ".join(str(said["error"]).split())[:200])
        png = base64.b64decode(said["png"], validate=True)
        width, height = struct.unpack(">II", png[16:24])
        good = png.startswith(_SIGNATURE) and png[12:16] == b"IHDR"
        if good and 0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE and len(png) <= LARGEST:
            return Picture(name, png)
    except (ValueError, TypeError, KeyError, struct.error):
        pass
    return Picture(name, None, f"it could not be decoded ({ended})")
