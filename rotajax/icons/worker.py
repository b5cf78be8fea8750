"""Findings about one SVG after another, in a process of its own that may run out of time or memory, or die.

Started by `pool`: reads an SVG a message from standard input and answers on standard output.
"""

import json
import os
import resource
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from rotajax.icons.filters import judge, measure
from rotajax.icons.foreground import foreground
from rotajax.icons.svg import SvgError, rasterise


def examine(data: bytes) -> tuple[dict, np.ndarray | None]:
    """Return the finding about the SVG `data`, and its mask Bool[512, 512] if the filters pass it.

    The finding is {"error": code or None, "message": line or None, "measures": see `filters.Measures`, or None}.
    """
    try:
        mask = foreground(rasterise(data))
        measures = measure(mask)
    except (SvgError, MemoryError) as error:
        if not isinstance(error, SvgError):
            error = SvgError("memory", "expected a drawing within the memory bound, got one beyond it")
        return {"error": error.code, "message": str(error), "measures": None}, None
    finding = {"error": None, "message": None, "measures": asdict(measures)}
    return finding, mask if judge(measures) is None else None


def serve(seconds: int, memory: int) -> None:
    """Answer until the other end closes: `seconds` of CPU time and `memory` bytes more than now an SVG at most.

    After an empty greeting an answer is one message of JSON, and one of packed bits where it has a mask.
    """
    requests = Connection(os.dup(0), writable=False)
    answers = Connection(os.dup(1), readable=False)
    # The libraries may print; that must not reach the answers.
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    examine(b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'><path d='M0 0h1v1z'/></svg>")
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_AS, address_space() + memory)
    answers.send_bytes(b"")
    while True:
        try:
            data = requests.recv_bytes()
        except EOFError:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)
        finding, mask = examine(data)
        answers.send_bytes(json.dumps({**finding, "mask": mask is not None}).encode())
        if mask is not None:
            answers.send_bytes(np.packbits(mask).tobytes())


def limit(kind: int, amount: int) -> None:
    """Lower the soft limit; the hard one stays, as the limits of a next SVG may lie higher."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


def address_space() -> int:
    """Return the bytes of address space in use, libraries included; half a GiB where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 29
