"""The jail: reads requests from its input, runs code shut into a room, and answers on its output.

A message is its length, 4 bytes, and JSON. The first is the description of the room. When the input ends, so does
everything in here: the host may be killed at any moment and leaves nothing behind.
"""

import base64
import fcntl
import json
import os
import select
import signal
import struct
import sys
import time

import files
import kernel
import room

# Reads the code, from a sealed file, and runs it as a script that may import the packages and its own files.
_START = """
import linecache, sys, traceback
_code = sys.stdin.read()
sys.path = [path for path in sys.path if not path.endswith("-packages")] + [sys.argv.pop(), ""]
linecache.cache["<code>"] = (len(_code), None, _code.splitlines(True), "<code>")
sys.argv = ["<code>"]
sys.excepthook = lambda kind, error, trace: traceback.print_exception(kind, error, trace and trace.tb_next)
exec(compile(_code, "<code>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
"""
_TICK = 0.1  # seconds between two looks at a workspace that the kernel does not limit
_SEALED = 0x2 | 0x4 | 0x8 | 0x1  # no shrinking, growing, writing, unsealing
_F_ADD_SEALS = 1033


class Jail:
    """Runs one piece of code at a time in a room."""

    def __init__(self, description: dict):
        self.python: str = description["python"]
        self.limits: dict[str, int] = description["limits"]
        self.megabytes: int = description["workspace_mib"]
        self.environment: dict[str, str] = description["environment"]
        what = (description[name] for name in ("layers", "python", "paths", "folders", "packages", "workspace_mib"))
        self.room = room.Room(*what)
        self.environment["HOME"] = self.environment["TMPDIR"] = self.room.workspace

    def put(self, request: dict) -> dict:
        """Write a file of the host's into the workspace, before any code has run there."""
        path = os.path.join(self.room.workspace, request["name"])
        with open(path, "xb") as file:
            file.write(base64.b64decode(request["data"]))
        os.chmod(path, 0o644)
        return {}

    def run(self, request: dict) -> dict:
        """Run code until it ends or meets a limit; say how it ended and what it printed."""
        code = request["code"].encode("utf-8", "replace")
        source = os.memfd_create("code", os.MFD_ALLOW_SEALING)
        os.write(source, code)
        os.lseek(source, 0, 0)
        fcntl.fcntl(source, _F_ADD_SEALS, _SEALED)
        reader, writer = os.pipe()
        failed, failure = os.pipe()
        started = time.monotonic()
        child = self.room.fork()
        if child == 0:
            self._become_runner(source, writer, failure)
        for handle in (source, writer, failure):
            os.close(handle)
        try:
            ended, output = self._watch(child, reader, request)
            why = os.read(failed, 1000)  # at its end, since the runner is another program or gone
        finally:
            os.close(reader)
            os.close(failed)
            _kill(child)
            _, status, used = os.wait4(child, 0)
            _end_orphans()
        if why:
            raise OSError(1, f"the jail did not shut: {why.decode()}")
        if self._full():
            ended = "workspace"
            files.trim(self.room.workspace, self.megabytes << 20)
        return {
            "ended": ended,
            "code": os.waitstatus_to_exitcode(status),
            "output": base64.b64encode(output).decode(),
            "seconds": time.monotonic() - started,
            "peak_mib": used.ru_maxrss / 1024,
        }

    def _become_runner(self, source: int, output: int, failure: int) -> None:
        try:
            os.setsid()
            os.dup2(source, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            # Above whatever the numbers are now, then down to 3; it closes with the start of the interpreter.
            failure = fcntl.fcntl(failure, fcntl.F_DUPFD_CLOEXEC, 100)
            os.dup2(failure, 3, inheritable=False)
            failure = 3
            os.closerange(4, 1 << 16)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            self.room.shut(self.limits)
            arguments = [self.python, "-I", "-B", "-u", "-X", "utf8", "-c", _START, self.room.library]
            os.execve(self.python, arguments, self.environment)
        except BaseException as error:
            os.write(failure, str(error).encode())
        finally:
            os._exit(125)

    def _watch(self, child: int, reader: int, request: dict) -> tuple[str, bytes]:
        """Collect what the child prints until it has ended ("exit"), or the limit that it met."""
        deadline = time.monotonic() + request["seconds"]
        handle = os.pidfd_open(child)
        watched = select.poll()
        for each in (reader, handle, 0):
            watched.register(each, select.POLLIN)
        output, looked = bytearray(), 0.0
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return "time", bytes(output)
                wait = left if self.room.wanted["namespaces"] else min(left, _TICK)
                ready = dict(watched.poll(wait * 1000))
                if 0 in ready:
                    _kill(child)
                    raise EOFError  # the host went away, or breaks the rules: one request at a time
                if reader in ready:
                    piece = os.read(reader, 1 << 16)
                    if not piece:
                        watched.unregister(reader)  # closed its output, and goes on
                    output += piece
                    if len(output) > request["output_bytes"]:
                        return "output", bytes(output[: request["output_bytes"]])
                elif handle in ready:
                    return "exit", bytes(output)
                if time.monotonic() > looked + _TICK:
                    if self._full():
                        return "workspace", bytes(output)
                    looked = time.monotonic()
        finally:
            os.close(handle)

    def _full(self) -> bool:
        """Whether a workspace that the kernel does not limit holds more than it may."""
        most = self.megabytes << 20
        return self.room.temporary is not None and files.size(self.room.workspace, most) > most

    def list(self, request: dict) -> dict:
        """The regular files of the workspace: name -> [bytes, time of change], never through a link."""
        return {"files": files.regular(self.room.workspace, request["most"])}


def _kill(child: int) -> None:
    """End a child, which is not yet waited for, and its group."""
    try:
        os.kill(child, signal.SIGKILL)
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _end_orphans() -> None:
    """End what a runner left behind: ours, since we adopt it."""
    while True:
        try:
            with open("/proc/thread-self/children") as file:
                children = file.read().split()
        except OSError:
            return  # in name spaces: nothing outlives the first process of its own
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _receive() -> dict | None:
    head = _read(4)
    if len(head) < 4:
        return None
    return json.loads(_read(struct.unpack(">I", head)[0]))


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            break
        data += piece
    return bytes(data)


def _send(answer: dict) -> None:
    data = json.dumps(answer).encode()
    data = struct.pack(">I", len(data)) + data
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    """Serve one host until its end of the input is closed."""
    kernel.adopt_orphans()
    kernel.be_first_to_go()
    jail = None
    try:
        while (request := _receive()) is not None:
            try:
                if jail is None:
                    jail = Jail(request)
                    _send({"ok": True, "workspace": jail.room.workspace})
                else:
                    _send({"ok": True, **getattr(jail, request["do"])(request)})
            except EOFError:
                raise
            except Exception as error:  # a refusal of the kernel, or what we did not foresee: the host decides
                _send({"ok": False, "error": str(error)})
    except (EOFError, BrokenPipeError):
        pass
    finally:
        if jail:
            jail.room.close()


if __name__ == "__main__":
    main()
    sys.exit(0)
