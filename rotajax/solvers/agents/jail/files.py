"""A workspace's files, as the jail sees them: never through a link, however deep, whatever their rights."""

import itertools
import math
import os
import stat
from collections.abc import Iterator

# Bytes that a name counts at least: folders and empty files fill a disk too. 64 MiB are 4,096 names, as in a tmpfs.
LEAST = 16 << 10


def walk(folder: str, *, strict: bool = False) -> Iterator[os.DirEntry[str]]:
    """Return what lies under a folder, folders before their content; what cannot be read is left out, or raises with
    `strict`.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as found:
                # One at a time: code that runs could add names faster than a list of them is made.
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    yield entry
        except FileNotFoundError:
            continue  # it went while we looked
        except OSError:
            if strict:
                raise


def regular(folder: str, most: int) -> dict[str, list[int]]:
    """Return the regular files: name in the folder -> [bytes, time of change in ns]."""
    found = ((entry, entry.stat(follow_symlinks=False)) for entry in walk(folder))
    files = ((os.path.relpath(entry.path, folder), info) for entry, info in found if stat.S_ISREG(info.st_mode))
    return {name: [info.st_size, info.st_mtime_ns] for name, info in itertools.islice(files, most)}


def size(folder: str, enough: float = math.inf) -> float:
    """Return the bytes that a folder's content takes on the disk, at least LEAST a name; counts until it is more than
    `enough`. Infinity where a part of it hides from us.
    """
    total = 0
    try:
        for entry in walk(folder, strict=True):
            total += _taken(entry)
            if total > enough:
                break
    except OSError:
        return math.inf
    return total


def _taken(entry: os.DirEntry[str]) -> int:
    try:
        return max(entry.stat(follow_symlinks=False).st_blocks * 512, LEAST)
    except FileNotFoundError:
        return 0  # it went while we looked


def trim(folder: str, limit: int) -> None:
    """Remove files, the last changed first, until a folder takes no more than half of its limit; all that it holds
    where that is not enough.
    """
    left = size(folder)
    files = [entry for entry in walk(folder) if not entry.is_dir(follow_symlinks=False)]
    files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    while files and left > limit // 2:
        last = files.pop()
        left -= _taken(last)
        os.unlink(last.path)
    if left > limit // 2:
        empty(folder)


def remove(folder: str) -> None:
    """Remove a folder and all that it holds."""
    empty(folder)
    os.rmdir(folder)


def empty(folder: str) -> None:
    """Remove what a folder holds. What lies deep is moved up first, so that no path becomes too long for the system."""
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
            return
