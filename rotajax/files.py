"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a kill, sees the old content or the new one, never a part."""
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        _replace(path, data)
    except OSError as error:  # the system names the temporary file, or none
        raise OSError(error.errno, f"{error.strerror}; nothing was written", str(path)) from None


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def take(handle: int, name: str) -> None:
    """Take an open file for this process until it is closed; where the system has no such lock, go on.

    Raises ValueError, with the name of what is written, where another process has it.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"{name}: expected a folder that nobody writes, got one that is being written") from None
    except OSError:  # a file system without locks
        return


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cache_folder(name: str) -> Path:
    """Return the folder of one kind of cached results, under XDG_CACHE_HOME or ~/.cache; it may not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "rotajax" / name
