"""`ATTACKS`: code that tries to get out of a sandbox, by property; it prints "broken" where it does."""

# What must be enforced, and what it means where it is not.
PROPERTIES = {
    "network": "code could reach the network",
    "files": "code could read or write files outside its workspace",
    "host": "code could read the memory and environment of the host's processes, or signal them",
    "processes": "code could start processes or threads without end",
    "memory": "code could use more memory than its limit",
    "workspace": "code could fill the disk: its workspace would only be watched",
    "time": "code could run past its time",
}

_NETWORK = """
import socket
for family, kind, address in [
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", given["port"])),
    (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", given["port"])),
    (socket.AF_UNIX, socket.SOCK_STREAM, given["unix"]),
    (socket.AF_UNIX, socket.SOCK_STREAM, b"\\0" + given["abstract"].encode()),
]:
    with attempt, socket.socket(family, kind) as outside:
        outside.settimeout(2)
        outside.connect(address)
        outside.send(b"x")
        print("broken")
with attempt:
    socket.socketpair()
    print("broken")
"""

_FILES = """
os.symlink(given["secrets"][0], "link")
for path in [*given["secrets"], "link", "../" * 20 + given["secrets"][0]]:
    with attempt:
        open(path, "rb").read(1)
        print("broken")
for folder in given["folders"]:
    with attempt:
        open(os.path.join(folder, given["planted"]), "x").close()
        print("broken")
        os.unlink(os.path.join(folder, given["planted"]))
with attempt:
    os.link(given["secrets"][0], "hard")
    print("broken")
with attempt:
    os.chmod(given["secrets"][0], 0o777)
    if os.stat(given["secrets"][0]).st_mode & 0o777 == 0o777:  # said to be done is not yet done
        print("broken")
with attempt:
    os.truncate(given["secrets"][0], 0)
    print("broken")
with attempt:
    os.close(os.open(given["secrets"][0], os.O_RDONLY | os.O_TRUNC))
    print("broken")
with attempt:
    os.unlink(given["secrets"][0])
    print("broken")
with attempt:
    os.listdir(os.path.dirname(given["secrets"][0]))
    print("broken")
"""

_HOST = """
import resource
for name in ("environ", "mem", "maps"):
    with attempt:
        open(f"/proc/{given['host']}/{name}", "rb").close()
        print("broken")
if os.getpid() != given["host"]:
    with attempt:
        os.kill(given["host"], 0)
        print("broken")
    with attempt:
        resource.prlimit(given["host"], resource.RLIMIT_CORE)
        print("broken")
with attempt:
    os.setpriority(os.PRIO_PROCESS, os.getppid() or given["host"], 19)
    print("broken")
"""

_PROCESSES = """
import threading
with attempt:
    if os.fork() == 0:
        os._exit(0)
    print("broken")
with attempt:
    if os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}):
        print("broken")
done = threading.Event()
threading.stack_size(32 << 10)
with attempt:
    for _ in range(given["threads"] * 2):
        threading.Thread(target=done.wait, daemon=True).start()
    print("broken")
"""

_MEMORY = """
import mmap
with attempt:
    with mmap.mmap(-1, given["memory"]) as block:
        block[-1] = 1
    print("broken")
with attempt:
    os.memfd_create("more")
    print("broken")
"""

_WORKSPACE = """
with attempt:
    for number in range(8):
        with open(f"fill{number}", "wb") as file:
            for _ in range(given["workspace"] // 4 >> 20):
                file.write(bytes(1 << 20))
    print("broken")
"""

_TIME = """
import signal
with attempt:
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
while True:
    pass
"""

# What every attack begins with: what it was given, and a block in which a refusal is no error.
_BEFORE = """
import contextlib, json, os, sys
given = json.load(open("given.json"))
attempt = contextlib.suppress(OSError, MemoryError, RuntimeError, ValueError)
"""
_CODE = {
    "network": _NETWORK,
    "files": _FILES,
    "host": _HOST,
    "processes": _PROCESSES,
    "memory": _MEMORY,
    "workspace": _WORKSPACE,
    "time": _TIME,
}
ATTACKS = {name: _BEFORE + _CODE[name] for name in PROPERTIES}
