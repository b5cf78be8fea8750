"""`measure`: subjects of one work, a process each, checked against one another and then timed in turn."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.machine import ROOT, environment, usable_cores
from benchmarks.rows import with_ratios

Results = dict[str, dict[str, np.ndarray]]


@dataclass(frozen=True)
class Subject:
    """What is timed: `make` is "module:function", called with the inputs and the options in a process of its own."""

    name: str
    make: str
    options: dict = field(default_factory=dict)
    cores: int = 1
    devices: int = 1
    peer: bool = False


@dataclass(frozen=True)
class Case:
    """One work and its subjects; seconds are divided by `units`. `parity` raises ParityError before any timing."""

    question: str
    work: str
    unit: str
    units: int
    subjects: tuple[Subject, ...]
    parity: Callable[[Results], None] = lambda results: None
    runs: int = 5


class ParityError(Exception):
    """Subjects that should agree do not: nothing is timed."""


class Worker:
    """A subject's process."""

    def __init__(self, subject: Subject, inputs: Inputs):
        self.subject = subject
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by close()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"],
            cwd=ROOT,
            env=environment(subject.cores, subject.devices, inputs.folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.missing: str | None = None

    def make(self, inputs: Inputs) -> None:
        """Make the work ready; `missing` then says which library is not installed."""
        where = [str(inputs.folder), inputs.name, inputs.count]
        # The last cores: the first one serves the machine's interrupts.
        cores = usable_cores()[-self.subject.cores :]
        answer = self.ask(do="make", make=self.subject.make, options=self.subject.options, inputs=where, cores=cores)
        self.missing = answer.get("missing")

    def ask(self, **command) -> dict:
        try:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.log.seek(0)
            raise RuntimeError(f"benchmark subject '{self.subject.name}' ended:\n{self.log.read()[-3000:]}")
        return json.loads(answer)

    def first(self, file: Path) -> tuple[float, dict[str, np.ndarray]]:
        seconds = self.ask(do="first", file=str(file))["seconds"]
        with np.load(file) as data:
            return seconds, dict(data)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            if stream:
                stream.close()


def measure(case: Case, inputs: Inputs, facts: dict) -> list[dict]:
    """Return the rows of a case: `facts` and the median of `runs` turns of every subject.

    Raises ParityError where results differ by more than the case allows, RuntimeError where a subject fails.
    """
    usable = len(usable_cores())
    workers: dict[str, Worker] = {}
    try:
        for subject in case.subjects:
            if subject.cores <= usable:
                workers[subject.name] = worker = Worker(subject, inputs)
                worker.make(inputs)
        present = {name: worker for name, worker in workers.items() if worker.missing is None}
        first, results = {}, {}
        for name, worker in present.items():
            first[name], results[name] = worker.first(inputs.folder / "result.npz")
        case.parity(results)
        seconds: dict[str, list[float]] = {name: [] for name in present}
        for _ in range(case.runs):
            for name, worker in present.items():
                seconds[name].append(worker.ask(do="run")["seconds"])
        ends = {name: worker.ask(do="end") for name, worker in present.items()}
    finally:
        for worker in workers.values():
            worker.close()
    rows = []
    for subject in case.subjects:
        name = subject.name
        row = {"question": case.question, "subject": name, "work": case.work, "unit": case.unit, "peer": subject.peer}
        if name in present:
            middle = statistics.median(seconds[name])
            row |= {
                "median_s": middle / case.units,
                "spread_s": [min(seconds[name]) / case.units, max(seconds[name]) / case.units],
                "runs": case.runs,
                "compile_s": max(first[name] - middle, 0.0),
                **ends[name],
                "note": None,
            }
        else:
            why = workers[name].missing if name in workers else f"needs {subject.cores} cores, {usable} usable"
            nothing = dict.fromkeys(("median_s", "spread_s", "compile_s", "peak_mib", "device"))
            row |= {**nothing, "runs": 0, "note": why}
        rows.append({**row, "threads": subject.cores, **facts})
    return with_ratios(rows)
