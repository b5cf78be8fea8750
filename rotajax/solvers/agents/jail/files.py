"""A workspace's files, as the jail sees them: never through a link, however deep, whatever their rights."""

import itertools
import math
import os
import stat
from collections.abc import Iterator


def walk(folder: str, *, strict: bool = False) -> Iterator[os.DirEntry[str]]:
    """Return what lies under a folder and is no folder; what cannot be read is left out, or raises with `strict`."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as found:
                entries = list(found)
        except FileNotFoundError:
            continue  # it went while we looked
        except OSError:
            if strict:
                raise
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry


def regular(folder: str, most: int) -> dict[str, list[int]]:
    """Return the regular files: name in the folder -> [bytes, time of change in ns]."""
    found = ((entry, entry.stat(follow_symlinks=False)) for entry in walk(folder))
    files = ((os.path.relpath(entry.path, folder), info) for entry, info in found if stat.S_ISREG(info.st_mode))
    return {name: [info.st_size, info.st_mtime_ns] for name, info in itertools.islice(files, most)}


def size(folder: str) -> float:
    """Return the bytes that a folder takes on the disk; infinity where a part of it hides from us."""
    total = 0
    try:
        for entry in walk(folder, strict=True):
            try:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
            except FileNotFoundError:
                continue
    except OSError:
        return math.inf
    return total


def trim(folder: str, limit: int) -> None:
    """Remove files, the last changed first, until a folder takes no more than half of its limit."""
    found = sorted(walk(folder), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    while found and size(folder) > limit // 2:
        os.unlink(found.pop().path)


def remove(folder: str) -> None:
    """Remove a folder. What lies deep is moved up first, so that no path becomes too long for the system."""
    numbers = itertools.count()
    while True:
        os.chmod(folder, 0o700)
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            with os.scandir(entry.path) as inner:
                for each in list(inner):
                    if each.is_dir(follow_symlinks=False):
                        os.rename(each.path, f"{folder}/up{next(numbers)}-{os.getpid()}")
                    else:
                        os.unlink(each.path)
            os.rmdir(entry.path)
        if not entries:
            os.rmdir(folder)
            return
