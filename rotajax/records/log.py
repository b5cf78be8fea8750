"""`Log`: a file of lines that only grows, each on the disk once `append` returns, written by one process."""

import contextlib
import os
from pathlib import Path

from rotajax.files import take


class Log:
    """An open file at whose end lines are added. Raises ValueError, with `name`, where another process writes it."""

    def __init__(self, path: Path, name: str):
        self._path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            take(self._handle, name)
        except BaseException:
            os.close(self._handle)
            raise

    def append(self, data: bytes) -> None:
        """Add whole lines and wait until they are on the disk; a write that fails leaves none of them behind.

        Raises OSError, with the folder in its message, where the disk is full or gone.
        """
        left = memoryview(data)
        start = os.fstat(self._handle).st_size
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, start)
            folder = str(self._path.parent)
            raise OSError(error.errno, f"{error.strerror}; the episodes before it are kept", folder) from None

    def close(self) -> None:
        """Release the file."""
        os.close(self._handle)
