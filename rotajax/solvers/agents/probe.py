"""`available`: what this machine really enforces on code in a sandbox, found by attacking it from inside."""

import asyncio
import functools
import importlib.util
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from rotajax.checks import require_member
from rotajax.solvers.agents.attacks import ATTACKS, PROPERTIES
from rotajax.solvers.agents.sandbox import Layers, Limits, Sandbox, SandboxError

# Best first: the first that enforces everything is used, or else the one that enforces most.
CHOICES = (
    Layers(),
    Layers(landlock=False),
    Layers(namespaces=False),
    Layers(namespaces=False, landlock=False),
    Layers(namespaces=False, seccomp=False),
    Layers(namespaces=False, landlock=False, seccomp=False),
)
# Small, so that the attacks are quick.
_LIMITS = Limits(seconds=60.0, memory_mib=512, workspace_mib=16, threads=64)
# The time of an endless run, and what a busy machine may add to it.
_ENDLESS_S, _LATE_S = 0.3, 10.0


class Capabilities(NamedTuple):
    """The layers to use, the properties of PROPERTIES that they were seen to enforce, and those that they do not."""

    layers: Layers
    held: tuple[str, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()  # why better layers are not used

    def require(self, allowed: Collection[str] = ()) -> Layers:
        """Return the layers. Raises SandboxError, naming what is missing, unless each of it is allowed by name.

        allowed: names of PROPERTIES; ValueError for another.
        """
        for name in allowed:
            require_member(name, PROPERTIES, "agents: --allow-unsandboxed")
        refused = [name for name in self.missing if name not in allowed]
        if refused:
            means = "; ".join(f"{name} ({PROPERTIES[name]})" for name in refused)
            flags = " ".join(f"--allow-unsandboxed {name}" for name in refused)
            why = f" [{'; '.join(self.notes)}]" if self.notes else ""
            raise SandboxError(
                f"agents: expected a machine that shuts model-written code in, this one does not enforce: {means}; "
                f"to run all the same: {flags}{why}"
            )
        return self.layers


@functools.cache
def available() -> Capabilities:
    """Return the best that this machine enforces; the attacks run once a process, about a second. Not from a loop."""
    return asyncio.run(examine(CHOICES))


async def examine(choices: Sequence[Layers]) -> Capabilities:
    """Return the first of the choices that enforces everything, or else the one that enforces most.

    Raises SandboxError where none of them opens.
    """
    best: Capabilities | None = None
    notes: list[str] = []
    opened: list[Layers] = []
    for layers in choices:
        if any(all(more or not less for more, less in zip(seen, layers, strict=True)) for seen in opened):
            continue  # a part of what opens enforces no more than the whole
        try:
            missing = await broken(layers)
        except SandboxError as error:
            notes.append(f"{_named(layers)}: {str(error).removeprefix('sandbox: ')}")
            continue
        opened.append(layers)
        held = tuple(name for name in PROPERTIES if name not in missing)
        if best is None or len(held) > len(best.held):
            best = Capabilities(layers, held, missing)
        if not missing:
            break
    if best is None:
        raise SandboxError("sandbox: nothing opens here: " + "; ".join(notes))
    return best._replace(notes=tuple(notes))


async def broken(layers: Layers) -> tuple[str, ...]:
    """Return the properties that code in a sandbox of these layers gets around, in the order of PROPERTIES.

    Raises SandboxError where the sandbox does not open, or an attack does not run at all.
    """
    own = importlib.util.find_spec("rotajax")
    source = own.origin if own and own.origin else __file__
    found = []
    with tempfile.TemporaryDirectory() as folder, _Listening(folder) as sockets:
        os.chmod(folder, 0o777)  # its name is drawn, and it is gone in a second
        secret = Path(folder, "secret")
        secret.write_text("secret")
        folders = [folder, tempfile.gettempdir(), "/var/tmp", "/dev/shm"]
        given = {
            **sockets.addresses,
            "secrets": [str(secret), source, __file__, "/etc/passwd"],
            "folders": folders,
            "planted": f"rotajax-{secrets.token_hex(8)}",
            "host": os.getpid(),
            "memory": _LIMITS.memory_mib << 20,
            "workspace": _LIMITS.workspace_mib << 20,
            "threads": _LIMITS.threads,
        }
        async with await Sandbox.open({"given.json": json.dumps(given).encode()}, limits=_LIMITS, layers=layers) as box:
            for name, code in ATTACKS.items():
                outcome = await box.run(code, seconds=_ENDLESS_S if name == "time" else None)
                if name == "time":
                    got_out = outcome.ended != "time" or outcome.seconds > _ENDLESS_S + _LATE_S
                elif outcome.ended == "exit" and outcome.code in (0, -9):
                    got_out = "broken" in outcome.output
                elif outcome.ended == "workspace":
                    got_out = True  # stopped by the watch, not by the kernel
                else:
                    how = f"{outcome.ended}, {outcome.code}: {outcome.output[-300:]}"
                    raise SandboxError(f"sandbox: the attack on {name} ended by {how}")
                if got_out:
                    found.append(name)
    return tuple(found)


class _Listening:
    """Sockets that an attack may try to reach: TCP, a path, an abstract name."""

    def __init__(self, folder: str):
        self._tcp, self._path, self._abstract = (
            socket.socket(),
            socket.socket(socket.AF_UNIX),
            socket.socket(socket.AF_UNIX),
        )
        name = f"rotajax-{secrets.token_hex(8)}"
        self._tcp.bind(("127.0.0.1", 0))
        self._path.bind(os.path.join(folder, "socket"))
        self._abstract.bind("\0" + name)
        for each in (self._tcp, self._path, self._abstract):
            each.listen()
        self.addresses = {"port": self._tcp.getsockname()[1], "unix": os.path.join(folder, "socket"), "abstract": name}

    def __enter__(self) -> "_Listening":
        return self

    def __exit__(self, *exception: object) -> None:
        for each in (self._tcp, self._path, self._abstract):
            each.close()


def _named(layers: Layers) -> str:
    return "+".join(name for name, used in layers._asdict().items() if used) or "limits alone"
