"""What code in the sandbox may read besides its workspace: the interpreter, its library, and a few packages."""

import glob
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

# What model-written code may import besides the standard library: import name of each.
PACKAGES = ("numpy", "PIL", "scipy")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
# Folders beside a package that hold its shared libraries.
_LIBRARIES = {"numpy": "numpy.libs", "PIL": "pillow.libs", "scipy": "scipy.libs"}


def interpreter() -> str:
    """Return the path of the interpreter itself, not of a virtual environment's link to it."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def readable_paths(hidden: Iterable[str | Path] = ()) -> tuple[list[str], list[str]]:
    """Return the paths that an interpreter needs, none of which holds a hidden one or any installed package.

    And the folders that hold some of them beside what is hidden, whose names have to be listed.

    hidden: files and folders that must stay out of reach wherever they lie.
    """
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix}
    base["installed_platbase"] = sys.base_exec_prefix
    library = sysconfig.get_path("stdlib", vars=base)
    platform_library = sysconfig.get_path("platstdlib", vars=base)
    shared = glob.glob(os.path.join(sys.base_prefix, "lib", "*.so*"))
    wanted = [interpreter(), *dict.fromkeys((library, platform_library)), *sorted(shared), *_SYSTEM]
    secret = _installed() | {os.path.realpath(path) for path in hidden}
    split: list[str] = []
    paths = list(dict.fromkeys(part for path in wanted for part in _without(path, secret, split)))
    return paths, split


def packages() -> dict[str, str]:
    """Return the folders of the packages that code may import, and of their shared libraries, by name."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            continue
        folder = Path(os.path.realpath(spec.submodule_search_locations[0]))
        found[name] = str(folder)
        beside = folder.parent / _LIBRARIES[name]
        if beside.is_dir():
            found[beside.name] = str(beside)
    return found


def _installed() -> set[str]:
    """The folders of installed packages, this one among them: it carries suites with their reference paths."""
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    folders = [sysconfig.get_path(kind, vars=given) for kind in ("purelib", "platlib") for given in (base, {})]
    own = importlib.util.find_spec("rotajax")
    folders += [
        *site.getsitepackages(),
        site.getusersitepackages(),
        *(own.submodule_search_locations or [] if own else []),
    ]
    return {os.path.realpath(folder) for folder in folders}


def _without(path: str, secret: set[str], split: list[str]) -> list[str]:
    """Return a path, or the parts of it that hold nothing secret; note the folders that were taken apart."""
    real = os.path.realpath(path)
    if not os.path.exists(real) or any(real == each or real.startswith(each + "/") for each in secret):
        return []
    if not any(each.startswith(real.rstrip("/") + "/") for each in secret):
        return [path]
    split.append(path)
    return [part for name in sorted(os.listdir(path)) for part in _without(os.path.join(path, name), secret, split)]
