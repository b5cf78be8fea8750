"""Checks at host doors: each raises a ValueError of one line that names the thing, what was expected and what came."""

from collections.abc import Iterable
from pathlib import Path

# How many of the allowed names a message lists.
NAMED = 12


def require(condition: bool, name: str, expected: str, got: object) -> None:
    """Raise `ValueError("<name>: expected <expected>, got <got>")` unless the condition holds."""
    if not condition:
        raise ValueError(f"{name}: expected {expected}, got {got}")


def require_at_least(value: int, least: int, name: str) -> int:
    """Return the value if it is a whole number of at least `least`."""
    require(isinstance(value, int) and value >= least, name, f"a whole number of at least {least}", repr(value))
    return value


def require_member(value: str, allowed: Iterable[str], name: str) -> str:
    """Return the value if it is one of the allowed names."""
    allowed = list(allowed)
    more = f" and {len(allowed) - NAMED} more" if len(allowed) > NAMED else ""
    require(value in allowed, name, "one of " + ", ".join(allowed[:NAMED]) + more, repr(value))
    return value


def require_folder(path: str | Path, name: str) -> Path:
    """Return the path if a folder is there."""
    path = Path(path)
    require(path.exists(), name, "a folder", f"nothing at '{path}'")
    require(path.is_dir(), name, "a folder", f"a file: '{path}'")
    return path


def require_file(path: str | Path, name: str) -> Path:
    """Return the path if a file is there."""
    path = Path(path)
    require(path.exists(), name, "a file", f"nothing at '{path}'")
    require(path.is_file(), name, "a file", f"a folder: '{path}'")
    return path
