"""`read_panel`: the two or three pictures of a panel, and nothing else, from the PNG of a request."""

import dataclasses
import io

import numpy as np
from PIL import Image

from rotajax.render.camera import SIZE
from rotajax.render.panel import STRIP
from rotajax.solvers.fake.asked import BadRequest
from rotajax.types import Bool, UInt8

WHITE = 128  # a silhouette is white or black
# Plain colours that a person names alike.
COLOURS = {"red": (220, 30, 30), "green": (30, 170, 60), "blue": (30, 60, 220), "yellow": (250, 220, 40)}


@dataclasses.dataclass(frozen=True)
class Pictures:
    """What a panel shows."""

    target: Bool[np.ndarray, "H W"]
    view: UInt8[np.ndarray, "H W"] | None
    current: Bool[np.ndarray, "H W"]


def read_picture(png: bytes) -> UInt8[np.ndarray, "h w 3"]:
    """Return the pixels of a PNG. Raises BadRequest where it is none."""
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise BadRequest("expected a PNG as image", "messages") from None


def is_panel(pixels: UInt8[np.ndarray, "h w 3"]) -> bool:
    """Return whether a picture has the size of a panel, with or without the auxiliary view."""
    return pixels.shape[:2] in ((SIZE, 2 * SIZE + STRIP), (SIZE, 3 * SIZE + 2 * STRIP))


def read_panel(pixels: UInt8[np.ndarray, "h w 3"]) -> Pictures:
    """Return the pictures of a panel. Raises BadRequest for another size."""
    if not is_panel(pixels):
        sizes = f"{3 * SIZE + 2 * STRIP} x {SIZE} or {2 * SIZE + STRIP} x {SIZE}"
        raise BadRequest(f"expected a panel of {sizes}, got {pixels.shape[1]} x {pixels.shape[0]}", "messages")
    grey, step = pixels[:, :, 0], SIZE + STRIP
    view = grey[:, step : step + SIZE] if pixels.shape[1] > 2 * step else None
    return Pictures(target=grey[:, :SIZE] > WHITE, view=view, current=grey[:, -SIZE:] > WHITE)


def colour(pixels: UInt8[np.ndarray, "h w 3"]) -> str:
    """Return the name of the colour that a picture has on average."""
    mean = pixels.reshape(-1, 3).mean(axis=0)
    return min(COLOURS, key=lambda name: float(np.square(mean - COLOURS[name]).sum()))
