"""run.json: what a run was asked, with which versions and on which device."""

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rotajax.checks import require

FORMAT = "rotajax.run/1"
META = "run.json"


def versions() -> dict[str, str]:
    """Return the exact versions that a result depends on."""
    found = {}
    for name in ("rotajax", "jax", "jaxlib", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a checkout on the path that is not installed
            found[name] = "unknown"
    return found


def read_meta(path: Path) -> dict:
    """Return run.json of a folder. Raises ValueError for another format."""
    file = path / META
    try:
        meta = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"'{file}': expected JSON in UTF-8, got {error}") from None
    got = meta.get("format") if isinstance(meta, dict) else type(meta).__name__
    require(got == FORMAT, f"'{file}': format", FORMAT, repr(got))
    require(isinstance(meta.get("asked"), dict), f"'{file}': asked", "an object", repr(meta.get("asked")))
    return meta


def require_same(path: Path, old: dict, new: dict) -> None:
    """Raise ValueError, naming the first difference, unless two requests are the same."""
    for name in dict.fromkeys([*old, *new]):
        before, now = (json.dumps(asked.get(name), ensure_ascii=False) for asked in (old, new))
        require(before == now, f"run '{path}' belongs to another run: {name}", before, f"{now} (choose another folder)")
