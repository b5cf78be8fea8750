"""`Sandbox`: a workspace in which model-written Python runs, shut in by the kernel; a run says how it ended."""

import asyncio
import base64
import json
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rotajax.checks import require
from rotajax.solvers.agents import visible

# The largest piece of code, in characters: far more than an answer can hold.
LONGEST_CODE = 200_000
_LONGEST_ANSWER = 64 << 20


class Limits(NamedTuple):
    """What a run may use; seconds, memory and workspace as in Table 19."""

    seconds: float = 300.0
    memory_mib: int = 4096
    workspace_mib: int = 64
    output_bytes: int = 1 << 20
    threads: int = 64
    open_files: int = 256


class Layers(NamedTuple):
    """The kernel's means that a sandbox uses."""

    namespaces: bool = True  # of users, mounts, processes, network: Linux 5.12, and permission to make them
    landlock: bool = True  # Linux 5.13
    seccomp: bool = True


class Outcome(NamedTuple):
    """How a run ended: "exit", or the limit it met: "time", "output", "workspace"; "lost" where the jail itself is."""

    ended: str
    code: int | None  # exit status; minus a signal's number
    output: str
    seconds: float
    peak_mib: float


LIMITS, LAYERS = Limits(), Layers()


class SandboxError(ValueError):
    """The machine refuses what a sandbox of these layers needs."""


class Sandbox:
    """A workspace and the process that runs code in it. Open with `Sandbox.open`, close with `aclose`.

    Files persist between the runs of one sandbox. Code sees the standard library, `visible.PACKAGES` and its workspace,
    no network, no other process, none of the host's environment.
    """

    def __init__(self, process: asyncio.subprocess.Process, limits: Limits):
        self._process = process
        self._lock = asyncio.Lock()
        self.limits = limits
        self.workspace = ""

    @classmethod
    async def open(
        cls,
        files: Mapping[str, bytes],
        *,
        limits: Limits = LIMITS,
        layers: Layers = LAYERS,
        hidden: Iterable[str | Path] = (),
    ) -> "Sandbox":
        """Return a sandbox whose workspace holds the files.

        files: plain name -> content; hidden: paths that must not be readable, wherever they lie. Raises SandboxError
        where the machine refuses one of the layers.
        """
        if not sys.platform.startswith("linux"):
            raise SandboxError(f"sandbox: expected Linux, got {sys.platform}")
        for name in files:
            require(
                name == Path(name).name and name not in ("", ".", ".."), "sandbox: file", "a plain name", repr(name)
            )
        process = await asyncio.create_subprocess_exec(
            visible.interpreter(),
            "-I",
            "-B",
            str(Path(__file__).parent / "jail"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            cwd="/",
            start_new_session=True,  # a Ctrl-C at the terminal is the host's to handle
        )
        box = cls(process, limits)
        try:
            answer = await box._ask(_description(limits, layers, hidden))
            box.workspace = answer["workspace"]
            for name, data in files.items():
                await box._ask({"do": "put", "name": name, "data": base64.b64encode(data).decode()})
        except BaseException:
            await box.aclose()
            raise
        return box

    async def run(self, code: str, *, seconds: float | None = None, output_bytes: int | None = None) -> Outcome:
        """Run code as a script in the workspace and return how it ended. Cancelling ends the whole sandbox.

        seconds: at most the limit of the sandbox; output_bytes: instead of it. Raises SandboxError where the jail
        cannot shut.
        """
        request = {
            "do": "run",
            "code": code[:LONGEST_CODE],
            "seconds": min(seconds or self.limits.seconds, self.limits.seconds),
            "output_bytes": output_bytes or self.limits.output_bytes,
        }
        try:
            answer = await self._ask(request)
        except (EOFError, ConnectionError):
            return Outcome("lost", None, "", 0.0, 0.0)
        output = base64.b64decode(answer["output"]).decode("utf-8", "replace")
        return Outcome(answer["ended"], answer["code"], output, answer["seconds"], answer["peak_mib"])

    async def files(self, *, most: int = 1000) -> dict[str, tuple[int, int]]:
        """Return the regular files of the workspace: name -> (bytes, time of change in ns)."""
        try:
            answer = await self._ask({"do": "list", "most": most})
        except (EOFError, ConnectionError):
            return {}
        return {name: (size, time) for name, (size, time) in answer["files"].items()}

    async def aclose(self) -> None:
        """End the sandbox and whatever runs in it; its workspace is gone."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 10)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def __aenter__(self) -> "Sandbox":
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request, return its answer. Raises EOFError where the jail is gone, SandboxError where it refuses."""
        writer, reader = self._process.stdin, self._process.stdout
        assert writer is not None
        assert reader is not None
        data = json.dumps(message).encode("utf-8", "surrogatepass")
        async with self._lock:
            try:
                writer.write(struct.pack(">I", len(data)) + data)
                await writer.drain()
                size = struct.unpack(">I", await reader.readexactly(4))[0]
                if size > _LONGEST_ANSWER:
                    raise EOFError
                answer = json.loads(await reader.readexactly(size))
            except asyncio.CancelledError:
                writer.close()  # the jail ends its run; a late answer would be taken for the next one's
                raise
        if not answer.pop("ok"):
            raise SandboxError(f"sandbox: {answer['error']}")
        return answer


def _description(limits: Limits, layers: Layers, hidden: Iterable[str | Path]) -> dict[str, Any]:
    """What the jail is told of the room."""
    limits_by_name = {
        "AS": limits.memory_mib << 20,
        "CPU": int(limits.seconds * (os.cpu_count() or 1)) + 1,
        "FSIZE": limits.workspace_mib << 20,
        "NOFILE": limits.open_files,
        "NPROC": limits.threads,
        "CORE": 0,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
    }
    environment = {"LANG": "C.UTF-8", "PATH": "/nonexistent"}
    environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    paths, folders = visible.readable_paths(hidden)
    return {
        "python": visible.interpreter(),
        "paths": paths,
        "folders": folders,
        "packages": visible.packages(),
        "layers": layers._asdict(),
        "limits": limits_by_name,
        "workspace_mib": limits.workspace_mib,
        "environment": environment,
    }
