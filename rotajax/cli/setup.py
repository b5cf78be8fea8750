"""`prepare_jax`: the settings that must be in place before jax touches a device."""

import argparse
import atexit
import os
import sys

from rotajax.checks import require, require_at_least
from rotajax.files import cache_folder
from rotajax.icons.pool import cores

_DEVICES_FLAG = "--xla_force_host_platform_device_count"
# Everything is kept: a command compiles a few programs, and a second run should compile none.
_CACHE_OPTIONS = {
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_persistent_cache_min_compile_time_secs": 0.0,
}


def prepare_jax(*, devices: int | None = None) -> None:
    """Make every usable CPU core a device (or `devices` of them) and keep compiled programs on the disk.

    What the user has set in XLA_FLAGS or in jax's own variables stays. Raises ValueError for less than one device.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if devices is not None:
        require_at_least(devices, 1, "--devices")
        flags = " ".join(flag for flag in flags.split() if not flag.startswith(_DEVICES_FLAG))
    if _DEVICES_FLAG not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_DEVICES_FLAG}={devices or cores()}".strip()
    _keep_compiled()


def add_devices(parser: argparse.ArgumentParser) -> None:
    """Add the options that say on which devices and in how many processes a command runs."""
    parser.add_argument("--devices", type=int, metavar="N", help="CPU cores to use (default: all usable ones)")
    group = parser.add_argument_group(
        "many processes", "the same command on every host, each with its number; the first one writes"
    )
    group.add_argument("--coordinator", metavar="HOST:PORT", help="address of process 0, reachable from all")
    group.add_argument("--processes", type=int, metavar="N", help="how many processes take part")
    group.add_argument("--process", type=int, metavar="I", help="number of this process, from 0")


def join_processes(args: argparse.Namespace) -> None:
    """Join the processes that the options name, if they do: jax then sees the devices of all of them.

    Raises ValueError where only some of the three options are given, or where the others do not answer in time.
    """
    given = [args.coordinator is not None, args.processes is not None, args.process is not None]
    if not any(given):
        return
    require(all(given), "many processes", "--coordinator, --processes and --process together", "only some of them")
    require_at_least(args.processes, 1, "--processes")
    require(0 <= args.process < args.processes, "--process", f"0 to {args.processes - 1}", args.process)
    import jax

    try:
        jax.distributed.initialize(
            args.coordinator, args.processes, args.process, initialization_timeout=60, heartbeat_timeout_seconds=20
        )
    except RuntimeError as error:
        where = f"many processes: expected {args.processes} processes at {args.coordinator} within 60 s"
        raise ValueError(f"{where}, got: {str(error).splitlines()[0]}") from None
    from rotajax.processes import leave

    atexit.register(leave)


def _keep_compiled() -> None:
    import jax

    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = cache_folder("xla")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(folder, os.W_OK)
        except OSError:
            writable = False
        if not writable:
            print(f"rotajax: '{folder}' cannot be written: compiled programs are not kept", file=sys.stderr)
            return
        jax.config.update("jax_compilation_cache_dir", str(folder))
    for name, value in _CACHE_OPTIONS.items():
        if name.upper() not in os.environ:
            jax.config.update(name, value)
