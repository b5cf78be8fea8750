"""Several processes that run one command: who writes, and how all of them come to know the same."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

# What went wrong with another process, if anything did.
_lost: list[str] = []


class ProcessLost(ConnectionError):
    """Another process of the run is gone: nothing can be computed together any more."""


@contextmanager
def together() -> Iterator[None]:
    """Name what ends a collective within: jax says it as ValueError or RuntimeError, by the transport's status."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())
        _lost.append(said)
        wanted = f"many processes: expected all {jax.process_count()} to answer, got a lost one"
        raise ProcessLost(f"{wanted}; the same command on all of them goes on where it was ({said})") from None


def leave() -> None:
    """End this process at once if another one is lost; to be called at exit, before jax waits for it and aborts."""
    if _lost:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(2)


def is_leader() -> bool:
    """Return whether this process is the one that writes: the only one, or the first of many."""
    return jax.process_index() == 0


def agree(value: Any) -> Any:
    """Return the leader's value, anything that JSON can hold, on every process. Raises ProcessLost."""
    if jax.process_count() == 1:
        return value
    data = np.frombuffer(json.dumps(value).encode(), np.uint8)
    with together():
        size = int(multihost_utils.broadcast_one_to_all(np.int32(len(data))))
        padded = np.zeros(size, np.uint8)
        padded[: min(size, len(data))] = data[:size]
        text = np.asarray(multihost_utils.broadcast_one_to_all(padded), np.uint8)
    return json.loads(bytes(text))
