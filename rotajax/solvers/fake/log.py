"""`AnswerLog`: a JSON line for every request that the endpoint answered, so that tests can see what was asked twice."""

import json
from collections import Counter
from pathlib import Path
from typing import TextIO


class AnswerLog:
    """Counts the attempts at each request; with a path, in a file that a restarted endpoint goes on with."""

    def __init__(self, path: Path | None = None):
        self._attempts: Counter[str] = Counter()
        self._file: TextIO | None = None
        if path is not None:
            for line in read_log(path):
                self._attempts[line["content"]] += 1
            self._file = path.open("a", encoding="utf-8", buffering=1)  # a line at a time

    def begin(self, content: str) -> int:
        """Return the number, from 0, of this attempt at a request."""
        self._attempts[content] += 1
        return self._attempts[content] - 1

    def end(self, **fields: object) -> None:
        """Write down how an attempt was answered."""
        if self._file is not None:
            self._file.write(json.dumps(fields) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def read_log(path: Path) -> list[dict]:
    """Return the lines of a log; none where there is no file, without a last one that was cut."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
