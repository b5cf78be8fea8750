"""`check_rows`: whether the rows of a suite say all that its tasks are made of, whoever wrote them."""

import math
import re

from rotajax.checks import require
from rotajax.geometry.rotation import DIRECTIONS
from rotajax.geometry.symmetry import MAX_ORDER

# What attribution and materialising need to know of an icon.
ICON = ("path", "author", "licence", "sha256")
# A task's id is also the name of its mask's file.
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check_rows(rows: list[dict], name: str) -> None:
    """Raise ValueError that names the task unless every row makes a task and no id comes twice."""
    seen: set[str] = set()
    for number, row in enumerate(rows):
        found = row.get("id", "")
        right = isinstance(found, str) and ID.fullmatch(found) is not None
        require(right, f"{name}: task number {number}: id", "a name of letters, digits, '_', '-' and '.'", repr(found))
        require(found not in seen, f"{name}: task {found}: id", "one task of this name", "two")
        seen.add(found)
        _check_row(row, f"{name}: task {found}")


def _check_row(row: dict, name: str) -> None:
    def check(key: str, expected: str, holds: bool) -> None:
        require(holds, f"{name}: {key}", expected, repr(row[key]) if key in row else "nothing")

    seed, start, circle = row.get("seed"), row.get("start"), row.get("circle")
    order, angle = row.get("symmetry_order"), row.get("mirror_angle_deg")
    check("seed", "a whole number of 32 bits", _whole(seed, 0, 2**32 - 1))
    named = isinstance(start, list) and len(start) > 0 and all(direction in DIRECTIONS for direction in start)
    check("start", "a list of directions", named)
    check("symmetry_order", f"1 to {MAX_ORDER}", _whole(order, 1, MAX_ORDER))
    check("mirror_angle_deg", "an angle or null", "mirror_angle_deg" in row and (angle is None or _finite(angle)))
    right = isinstance(circle, list) and len(circle) == 3 and all(map(_finite, circle)) and circle[2] > 0
    check("circle", "centre and positive radius", right)
    check("mask_sha256", "a hash", isinstance(row.get("mask_sha256"), str))
    icon = row.get("icon")
    told = isinstance(icon, dict) and all(isinstance(icon.get(key), str) for key in ICON)
    check("icon", "an object with texts " + ", ".join(ICON), told)


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
