"""A subject's process: pinned before any library loads, it makes its work ready and runs it whenever it is told to.

Reads one JSON line a command from standard input and answers with one line: `make`, `first` (saves its results to a
file), `run` and `end`. Libraries that print do so on standard error.
"""

import json
import os
import resource
import sys
import time


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    run = None
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "make":
            run, answer = make(command)
        elif command["do"] == "end":
            answer = facts()
        else:
            assert run is not None
            started = time.perf_counter()
            result = run()
            answer = {"seconds": time.perf_counter() - started}
            if command["do"] == "first":
                save(result, command["file"])
        print(json.dumps(answer), file=answers)


def make(command: dict):
    """Return the work as a function, and the answer: {} or {"missing": why} where a library is not installed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, command["cores"])
    from importlib import import_module
    from pathlib import Path

    from benchmarks.inputs import Inputs

    module, function = command["make"].split(":")
    folder, name, count = command["inputs"]
    try:
        return getattr(import_module(module), function)(Inputs(Path(folder), name, count), **command["options"]), {}
    except ModuleNotFoundError as error:
        if error.name in ("rotajax", "benchmarks"):
            raise
        return None, {"missing": f"{error.name} is not installed"}


def save(result, file: str) -> None:
    import numpy as np

    arrays = result if isinstance(result, dict) else {"result": result}
    np.savez(file, **{name: np.asarray(value) for name, value in arrays.items()})


def facts() -> dict:
    """Return the peak memory of this process or of one it started, and the device."""
    peak = max(own_peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    device = "cpu"
    if "jax" in sys.modules:
        import jax

        device = jax.devices()[0].device_kind
    return {"peak_mib": peak / unit, "device": device}


def own_peak() -> int:
    """Return the peak memory of this process: on Linux ru_maxrss would count what its parent held at the fork."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
