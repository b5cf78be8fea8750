"""What a task needs of an icon's mask, on the host: its enclosing circle and its symmetry, cached by content."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rotajax.files import cache_folder, write_atomically
from rotajax.geometry.symmetry import Symmetry, estimate
from rotajax.icons.outline import Circle, outline_points, plane_circle, plane_points
from rotajax.tasks.folder import mask_sha256

# Part of the cache key: raise it when circle or symmetry of the same mask would come out differently.
VERSION = 1


@dataclass(frozen=True)
class Outline:
    """Circle (cx, cy, radius) of the outline x 1.24, and the symmetries of the outline centred on it."""

    circle: Circle
    symmetry: Symmetry


def outline_of(mask: np.ndarray, *, cache: Path | None = None) -> Outline:
    """Return the outline of a mask, Bool[512, 512], from the cache where it is there and whole."""
    file = (cache or cache_folder("outlines")) / f"{mask_sha256(mask)}-{VERSION}.json"
    try:
        stored = json.loads(file.read_bytes())
        return Outline(tuple(stored["circle"]), Symmetry(**stored["symmetry"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not cached, or not readable: measured anew
    points = outline_points(mask)
    circle = plane_circle(points)
    outline = Outline(circle, estimate(plane_points(points, circle)))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(asdict(outline)))
    except OSError:
        pass  # a cache that cannot be written costs time, not the result
    return outline
