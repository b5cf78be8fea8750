"""Findings about many SVGs, drawn on all cores by processes that may die without taking the run with them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

SECONDS = 20  # CPU time an SVG; the slowest of the game-icons takes well under 1
MEMORY = 1 << 30  # bytes an SVG may add to the process
# The package's own module is left out of the process: it would load jax, for seconds, to draw a picture.
START = """
import sys, types
package = types.ModuleType("rotajax")
package.__path__ = [sys.argv[1]]
sys.modules["rotajax"] = package
from rotajax.icons.worker import serve
serve(int(sys.argv[2]), int(sys.argv[3]))
"""
ERRORS = {
    "time": "icons.svg: expected a drawing within the CPU time bound, got one beyond it",
    "crash": "icons.svg: expected a drawing, got a crash of the rasteriser",
}
Finding = dict[str, Any]  # see `worker.examine`
Job = tuple[Any, bytes]
Answer = tuple[Finding, bytes | None]


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def examine_all(
    svgs: Iterable[Job], *, workers: int | None = None, seconds: int = SECONDS, memory: int = MEMORY
) -> Iterator[tuple[Any, Finding, bytes | None]]:
    """Yield (key, finding, packed mask or None) for every (key, data), in the order in which they are done.

    A finding is one of `worker.examine`, or has the error "time" or "crash" where the process died on the SVG. A
    crash is tried once more first, as the machine may have ended the process for memory that others used.
    Raises RuntimeError where the processes do not even start.
    """
    waiting, again, tried = iter(svgs), [], set()
    pool = [_Worker(seconds, memory) for _ in range(workers or cores())]
    try:
        while True:
            for worker in pool:
                if worker.job is None:
                    job = again.pop() if again else next(waiting, None)
                    if job is not None:
                        worker.give(job)
            busy = {worker.answers: (worker, worker.job) for worker in pool if worker.job is not None}
            if not busy:
                return
            patience = max(0.0, min(worker.deadline for worker, _ in busy.values()) - time.monotonic())
            ready = wait(list(busy), timeout=patience)
            for answers, (worker, job) in busy.items():
                if answers not in ready and time.monotonic() < worker.deadline:
                    continue
                finding, mask = worker.take() if answers in ready else worker.end("time")
                if finding["error"] == "crash" and job[0] not in tried:
                    tried.add(job[0])
                    again.append(job)
                else:
                    yield job[0], finding, mask
    finally:
        for worker in pool:
            worker.close()


class _Worker:
    """A drawing process, and the job that it is on."""

    def __init__(self, seconds: int, memory: int):
        self.seconds, self.memory = seconds, memory
        self.start()

    def start(self) -> None:
        root = str(Path(__file__).resolve().parent.parent)
        read_request, write_request = os.pipe()
        read_answer, write_answer = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, root, str(self.seconds), str(self.memory)],
            stdin=read_request,
            stdout=write_answer,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        os.close(read_request)
        os.close(write_answer)
        self.requests = Connection(write_request, readable=False)
        self.answers = Connection(read_answer, writable=False)
        self.started, self.deadline = False, 0.0
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        try:
            if not self.started:
                self.answers.recv_bytes()  # the greeting: what dies before it dies of no SVG
                self.started = True
        except (EOFError, OSError):
            ended = self.process.wait()
            raise RuntimeError(f"icons.pool: expected a drawing process, got one that ended with {ended}") from None
        # Wall time counts for a process that waits and uses no CPU time; a busy machine must not decide.
        self.job, self.deadline = job, time.monotonic() + 10 * self.seconds
        with suppress(OSError):  # it may have died: reading the answer finds out of what
            self.requests.send_bytes(job[1])

    def take(self) -> Answer:
        try:
            finding = json.loads(self.answers.recv_bytes())
            mask = self.answers.recv_bytes() if finding.pop("mask") else None
        except (EOFError, OSError):
            return self.end("crash")
        self.job = None
        return finding, mask

    def end(self, error: str) -> Answer:
        """Return the finding that the process came to its end on the job; start another process."""
        self.close()
        error = "time" if self.process.returncode == -signal.SIGXCPU else error
        self.start()
        return {"error": error, "message": ERRORS[error], "measures": None}, None

    def close(self) -> None:
        self.requests.close()
        self.answers.close()
        if self.job is not None:
            self.process.kill()
        self.process.wait()
