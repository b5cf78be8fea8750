"""What a run ran on: processor, versions, commit, and which cores a subject may use."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("jax", "jaxlib", "numpy", "opencv-python-headless", "numba", "torch", "warp-lang")
ROOT = Path(__file__).parents[1]


def usable_cores() -> list[int]:
    """Return the numbers of the cores this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def environment(cores: int, devices: int, folder: Path) -> dict[str, str]:
    """Return the variables a subject's process starts with: thread counts of every library, no compilation cache but
    Warp's, in `folder`: its compiler takes longer than a question's timing.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA")
    kept |= {f"{name}_NUM_THREADS": str(cores) for name in names}
    kept |= {"WARP_CACHE_PATH": str(folder / "warp"), "PYTHONUNBUFFERED": "1"}
    return {**kept, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}


def describe() -> dict:
    """Return the facts that every row of a run carries."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "machine": f"{_processor()}, {len(usable_cores())} cores, {memory:.0f} GiB, {platform.system()}",
        "versions": {"python": platform.python_version(), **{name: installed(name) for name in LIBRARIES}},
        "jaxlib": installed("jaxlib"),
        "commit": _commit(),
        "load": os.getloadavg()[0],
    }


def installed(name: str) -> str | None:
    """Return the version of a library, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str | None:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or None
