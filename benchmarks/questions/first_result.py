"""How long from starting Python to the first result, with an empty and with a full compilation cache?"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.turns import Case, ParityError, Results, Subject

HERE = f"{__name__}:"
# The command line's settings, then one step of the first task of the embedded suite.
PROGRAM = """
from rotajax.cli.setup import prepare_jax
prepare_jax(devices=1)
import jax, numpy as np, rotajax as rx
task = jax.tree.map(np.asarray, rx.load_suite("mini", limit=1)[0])
state, _ = jax.jit(rx.reset)(task, rx.Params())
state, seen = jax.jit(rx.step)(state, 7, rx.Params())
print(float(state.iou), int(seen.view.sum()))
"""
IMPORT = "import rotajax; print(0.0, 0)"


def cases(inputs: Inputs, quick: bool) -> list[Case]:
    """Return one work: whole processes on one core, and an import alone to hold them against."""
    make = HERE + ours.__name__
    return [
        Case(
            question="first result",
            work="start Python, load the embedded suite, reset and step its first task with the full observation",
            unit="process",
            units=1,
            subjects=(
                Subject("cold cache", make, {"cold": True}),
                Subject("warm cache", make, {"cold": False}),
                Subject("import rotajax alone", make, {"cold": False, "program": IMPORT}),
            ),
            parity=_same,
        )
    ]


def ours(inputs: Inputs, cold: bool, program: str = PROGRAM) -> Callable[[], np.ndarray]:
    """Return the run of one process; `cold` gives each one a cache folder of its own, else all share one."""
    shared = tempfile.TemporaryDirectory(dir=inputs.folder)

    def run() -> np.ndarray:
        with tempfile.TemporaryDirectory(dir=inputs.folder) as fresh:
            environment = {**os.environ, "XDG_CACHE_HOME": fresh if cold else shared.name, "XLA_FLAGS": ""}
            done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            return np.array([float(word) for word in done.stdout.split()])

    return run


def _same(results: Results) -> None:
    cold, warm = (results[name]["result"] for name in ("cold cache", "warm cache"))
    if not np.array_equal(cold, warm):
        raise ParityError(f"first result: expected the same from cold and warm cache, got {cold} and {warm}")
