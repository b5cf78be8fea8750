"""Model-written code that tries to get out, to stay, or to use more than it may. Each ends, and the next run works."""

import asyncio
import functools
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from rotajax.solvers.agents import visible
from rotajax.solvers.agents.attacks import ATTACKS, PROPERTIES
from rotajax.solvers.agents.probe import CHOICES, Capabilities, available, broken, examine
from rotajax.solvers.agents.sandbox import LONGEST_CODE, Layers, Limits, Sandbox, SandboxError
from suites import write_tiny_suite

KINDS = {"namespaces": Layers(), "filters": Layers(namespaces=False)}
SMALL = Limits(seconds=20.0, memory_mib=512, workspace_mib=16)


async def _play(layers, codes, limits, files, seconds):
    async with await Sandbox.open(files, limits=limits, layers=layers) as box:
        return [await box.run(textwrap.dedent(code), seconds=seconds) for code in codes]


def play(layers, *codes, limits=SMALL, files=(), seconds=None):
    """Run pieces of code one after the other in one sandbox and return their outcomes."""
    return asyncio.run(_play(layers, codes, limits, dict(files), seconds))


@pytest.fixture(scope="session")
def opens():
    """Why a kind of sandbox does not open here; None where it does."""

    def why(kind):
        try:
            (outcome,) = play(KINDS[kind], "print('in')")
        except SandboxError as error:
            return str(error)
        assert outcome.output == "in\n"
        return None

    return {kind: why(kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def layers(request, opens):
    if opens[request.param]:
        pytest.skip(f"{request.param}: {opens[request.param]}")
    return KINDS[request.param]


@pytest.fixture(scope="session")
def gets_around():
    """What code gets around in a kind of sandbox: the attacks run once for each."""
    return functools.cache(lambda layers: asyncio.run(broken(layers)))


def goes_on(outcome):
    return outcome.ended == "exit" and outcome.code == 0 and outcome.output == "still here\n"


AGAIN = "print('still here')"


@pytest.fixture(scope="session")
def found():
    """What this machine enforces."""
    return available()


def test_something_is_enforced_here(opens, found):
    assert None in opens.values(), opens
    # Wherever this runs: no network, no files, no look into this process, no endless run.
    assert {"network", "files", "host", "memory", "time"} <= set(found.held), found


def test_the_best_kind_holds_everything_where_name_spaces_are_allowed(opens, found):
    if opens["namespaces"]:
        pytest.skip(f"user name spaces: {opens['namespaces']}")
    assert found.missing == ()
    assert found.layers.namespaces


def test_code_sees_its_files_and_its_libraries_only(layers):
    files = {"target.png": b"a picture"}
    code = """
        import numpy, PIL.Image, scipy.ndimage, os, sys
        print(sorted(os.listdir(".")), open("target.png").read())
        print(sorted(os.environ))
        for name in ("rotajax", "jax", "pytest"):
            try:
                __import__(name)
            except ImportError:
                continue
            print("imported", name)
    """
    (outcome,) = play(layers, code, files=files)
    assert outcome.code == 0, outcome
    listed, environment, *imported = outcome.output.splitlines()
    assert listed == "['target.png'] a picture"
    names = {"HOME", "LANG", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "TMPDIR", "LC_CTYPE"}
    assert set(eval(environment)) <= names
    assert imported == []


def test_the_key_and_the_suite_are_out_of_reach(layers, tmp_path, monkeypatch):
    suite = write_tiny_suite(tmp_path / "suite")
    os.chmod(tmp_path, 0o755)
    monkeypatch.setenv("ROTAJAX_API_KEY", "sk-very-secret-0123456789")
    # The environment of a process in /proc is the one that it was started with.
    host = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        data = Path(visible.__file__).parents[2]
        code = f"""
            import glob, os
            hosts = [{os.getpid()}, {host.pid}, os.getppid()]
            for number in hosts:
                for name in ("environ", "mem", "maps", "cmdline", "root/etc/passwd", "cwd/README.md"):
                    try:
                        data = open(f"/proc/{{number}}/{{name}}", "rb").read(100000)
                        print("read", number, name, b"sk-very-secret" in data)
                    except OSError:
                        pass
            for path in ["{suite}/suite.json", *glob.glob("{suite}/**", recursive=True),
                         "{data}/__init__.py", "{data}/_data/suites/mini.json", "{data.parent}/data/suites/mini.json"]:
                try:
                    print("read", path, len(open(path, "rb").read()))
                except OSError:
                    pass
            print("done")
        """
        (outcome,) = play(layers, code)
        assert outcome.output == "done\n"
        assert (Path(suite) / "suite.json").exists()
    finally:
        host.communicate(b"\n")


def test_hidden_paths_are_taken_out_of_what_is_visible(layers):
    hidden = Path(os.__file__).parent / "email"

    async def look(hidden):
        async with await Sandbox.open({}, limits=SMALL, layers=layers, hidden=hidden) as box:
            return await box.run("import json, email; print(email.__file__)")

    assert asyncio.run(look([])).output == f"{hidden}/__init__.py\n"
    without = asyncio.run(look([hidden]))
    assert without.code == 1
    assert "email" in without.output.splitlines()[-1]


@pytest.mark.parametrize("name", [name for name in PROPERTIES if name not in ("workspace", "processes")])
def test_attacks_fail(layers, name, gets_around):
    assert name not in gets_around(layers)


def test_every_attack_gets_out_where_nothing_is_enforced(gets_around):
    # An attack that cannot succeed would prove nothing.
    got_out = set(gets_around(Layers(False, False, False)))
    assert got_out >= {"network", "files", "host", "processes", "workspace"}
    assert set(ATTACKS) == set(PROPERTIES)


def test_network_is_refused_in_words(layers):
    first, second = play(layers, "import socket; socket.create_connection(('127.0.0.1', 80), 2)", AGAIN)
    assert first.code == 1
    assert "PermissionError" in first.output
    assert goes_on(second)


def test_fork_bomb(layers):
    code = """
        import os
        while True:
            os.fork()
    """
    first, second = play(layers, code, AGAIN)
    assert (first.ended, first.code) == ("exit", 1)
    assert "PermissionError" in first.output
    assert first.seconds < 5
    assert goes_on(second)


def test_thread_bomb(layers, gets_around):
    if not layers.namespaces and "processes" in gets_around(layers):
        pytest.skip("an interpreter that another user than root can run: root's threads are not counted")
    code = """
        import threading, time
        threading.stack_size(32 << 10)
        count = 0
        try:
            while count < 1000:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                count += 1
        except RuntimeError:
            pass
        print(count)
    """
    first, second = play(layers, code, AGAIN)
    assert int(first.output) <= SMALL.threads
    assert goes_on(second)


def test_memory_bomb(layers):
    code = """
        held = []
        while True:
            held.append(bytearray(16 << 20))
    """
    first, second = play(layers, code, AGAIN)
    assert first.ended == "exit"
    assert first.code == 1
    assert "MemoryError" in first.output
    assert first.peak_mib <= SMALL.memory_mib
    assert goes_on(second)


def test_memory_outside_the_limit_of_a_process_is_refused(layers):
    code = """
        import mmap, multiprocessing.shared_memory, os
        for attempt in (lambda: os.memfd_create("x"), lambda: mmap.mmap(-1, 600 << 20),
                        lambda: multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 20)):
            try:
                attempt()
                print("got it")
            except OSError as error:
                print(type(error).__name__)
    """
    (outcome,) = play(layers, code)
    assert outcome.code == 0, outcome.output
    assert "got it" not in outcome.output


def test_endless_output(layers):
    first, second = play(layers, "while True: print('x' * 1000)", AGAIN)
    assert first.ended == "output"
    assert len(first.output) == SMALL.output_bytes
    assert goes_on(second)


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import os, time; os.close(1); os.close(2); time.sleep(1000)",
        "import signal, time\nfor n in (1, 2, 3, 13, 14, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
        "import sys; sys.stdin.read(); open(0, 'rb').read(); __import__('time').sleep(1000)",
    ],
)
def test_endless_run(layers, code):
    first, second = play(layers, code, AGAIN, seconds=0.5)
    assert first.ended == "time"
    assert first.code == -signal.SIGKILL
    assert 0.5 <= first.seconds < 3
    assert goes_on(second)


def test_full_disk(layers, gets_around):
    code = """
        try:
            for number in range(1000):
                with open(f"file{number}", "wb") as file:
                    file.write(bytes(4 << 20))
        except OSError as error:
            print(error.strerror)
    """
    first, second, third = play(layers, code, AGAIN, "open('small', 'wb').write(b'x'); print('still here')")
    if layers.namespaces:
        assert first.output == "No space left on device\n"
    else:
        # The kernel limits a file there, not the folder: it is watched, and the probe says so.
        assert first.ended == "workspace"
        assert "workspace" in gets_around(layers)
    assert goes_on(second)
    if not layers.namespaces:
        assert goes_on(third)


def test_one_large_file_ends_at_the_limit_of_files(layers):
    code = """
        import os
        with open("large", "wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, 1 << 30)
            except OSError as error:
                print(error.strerror)
    """
    (outcome,) = play(layers, code)
    assert outcome.output in ("File too large\n", "No space left on device\n")


def test_links_lead_nowhere(layers, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    os.chmod(tmp_path, 0o755)
    code = f"""
        import os
        targets = ["{secret}", "/etc/shadow", "/proc/self/environ", "/proc/1/root/etc/shadow", "/"]
        for number, target in enumerate(targets):
            os.symlink(target, f"link{{number}}.png")
            try:
                open(f"link{{number}}.png", "rb").read()
                print("read", target)
            except OSError:
                pass
        os.mkdir("folder")
        os.symlink("..", "folder/up")
        open("real.png", "w").write("x")
        print("done")
    """

    async def look():
        async with await Sandbox.open({}, limits=SMALL, layers=layers) as box:
            return await box.run(textwrap.dedent(code)), await box.files()

    outcome, files = asyncio.run(look())
    assert outcome.output == "done\n"
    assert list(files) == ["real.png"]


def test_deep_folders_hide_nothing_and_end(layers):
    code = """
        import os
        for depth in range(3000):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        open("deep", "w").write("x")
        print("done")
    """
    first, _ = play(layers, code, AGAIN)
    assert first.output == "done\n" or first.ended in ("workspace", "exit")


def test_a_daemon_does_not_outlive_its_run(layers):
    mark = f"rotajax-daemon-{os.getpid()}-{layers.namespaces}"
    code = f"""
        import os, sys
        try:
            if os.fork() == 0:
                os.setsid()
                os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "{mark}"])
        except OSError as error:
            print(error.strerror)
    """
    first, second = play(layers, code, AGAIN)
    assert first.ended == "exit"
    assert goes_on(second)
    assert running(mark) == []


def test_a_daemon_is_ended_also_where_processes_are_allowed(opens):
    """Without the filter of system calls a fork succeeds: what is left of it is found and killed."""
    mark = f"rotajax-orphan-{os.getpid()}"
    code = f"""
        import os, sys
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "{mark}"])
        print("left three")
    """
    for layers in (Layers(seccomp=False), Layers(namespaces=False, landlock=False, seccomp=False)):
        if layers.namespaces and opens["namespaces"]:
            continue
        first, second = play(layers, code, AGAIN)
        assert "left three" in first.output
        assert goes_on(second)
        assert running(mark) == []


def running(mark):
    """Numbers of the processes whose command line has a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "cmdline").read_text(errors="replace"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_nothing_outlives_a_host_that_is_killed(opens, tmp_path):
    kinds = [tuple(layers) for name, layers in KINDS.items() if not opens[name]]
    code = f"""
        import asyncio
        from rotajax.solvers.agents.sandbox import Layers, Sandbox
        async def main():
            boxes = [await Sandbox.open({{}}, layers=Layers(*kind)) for kind in {kinds}]
            runs = [asyncio.create_task(box.run("while True: pass")) for box in boxes]
            await asyncio.sleep(0.5)  # the runs have begun
            print(*(box._process.pid for box in boxes), flush=True)
            await asyncio.gather(*runs)
        asyncio.run(main())
    """
    host = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path), "JAX_PLATFORMS": "cpu"},
    )
    jails = [int(each) for each in host.stdout.readline().split()]
    assert len(jails) == len(kinds)
    inside = [child for jail in jails for child in children(jail)]
    assert len(inside) == len(kinds)
    host.kill()
    host.communicate()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{each}").exists() for each in (*jails, *inside)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{each}").exists() for each in (*jails, *inside))
    assert list(tmp_path.iterdir()) == []


def children(process):
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_folders_on_the_disk_are_removed(layers, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = """
        import os
        os.mkdir("closed")
        open("closed/file", "w").close()
        os.mkdir("nested")
        os.chdir("nested")
        for _ in range(1200):
            os.mkdir("inner")
            os.chdir("inner")
    """
    play(layers, code)
    assert list(tmp_path.iterdir()) == []


def test_files_persist_between_runs_and_code_keeps_its_own_modules(layers):
    first, second = play(layers, "open('helper.py', 'w').write('ANSWER = 42')", "import helper; print(helper.ANSWER)")
    assert first.code == 0
    assert second.output == "42\n"


def test_a_traceback_names_the_line(layers):
    (outcome,) = play(layers, "x = 1\nx / 0")
    assert outcome.code == 1
    lines = outcome.output.splitlines()
    assert lines[:3] == ["Traceback (most recent call last):", '  File "<code>", line 2, in <module>', "    x / 0"]
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_signals_and_exits_are_told(layers):
    outcomes = play(layers, "import os; os.abort()", "raise SystemExit(7)", "import ctypes; ctypes.string_at(0)", AGAIN)
    assert outcomes[0].code in (-signal.SIGABRT, -signal.SIGSEGV)  # the first process of a name space ignores its own
    assert outcomes[1].code == 7
    assert outcomes[2].code == -signal.SIGSEGV
    assert goes_on(outcomes[3])


def test_odd_code_is_code(layers):
    outcomes = play(layers, "print('é', '\U0001f600')", "\ud800", "x" * (LONGEST_CODE + 5), "\0", AGAIN)
    assert outcomes[0].output == "é \U0001f600\n"
    assert all(outcome.ended == "exit" for outcome in outcomes)
    assert goes_on(outcomes[-1])


def test_several_at_once(layers):
    async def many():
        boxes = [await Sandbox.open({"n": str(n).encode()}, limits=SMALL, layers=layers) for n in range(4)]
        outcomes = await asyncio.gather(*(box.run("print(open('n').read())") for box in boxes))
        for box in boxes:
            await box.aclose()
        return [outcome.output for outcome in outcomes]

    assert asyncio.run(many()) == ["0\n", "1\n", "2\n", "3\n"]


def test_cancelling_ends_what_runs(layers):
    async def cancel():
        box = await Sandbox.open({}, limits=SMALL, layers=layers)
        task = asyncio.create_task(box.run("while True: pass"))
        await asyncio.sleep(0.5)
        inside = children(box._process.pid)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await box.aclose()
        return inside

    inside = asyncio.run(cancel())
    assert inside
    assert not any(Path(f"/proc/{each}").exists() for each in inside)


def test_names_of_files_are_plain():
    for name in ("../out", "a/b", "", "..", "/etc/passwd"):
        with pytest.raises(ValueError, match="sandbox: file: expected a plain name"):
            asyncio.run(_play(Layers(False, False, False), [], SMALL, {name: b""}, None))


def test_what_is_missing_is_refused_by_name_and_allowed_by_name():
    found = Capabilities(Layers(namespaces=False), ("network",), ("workspace", "memory"), ("namespaces: refused",))
    with pytest.raises(SandboxError) as refusal:
        found.require()
    said = str(refusal.value)
    assert "--allow-unsandboxed workspace --allow-unsandboxed memory" in said
    assert "namespaces: refused" in said
    assert "\n" not in said
    with pytest.raises(SandboxError, match="does not enforce: memory"):
        found.require(["workspace"])
    assert found.require(["workspace", "memory"]) == found.layers
    with pytest.raises(ValueError, match="--allow-unsandboxed: expected one of network"):
        found.require(["everything"])


@pytest.mark.slow
def test_examining_prefers_what_enforces_more():
    # Limits alone first: the better choice behind it is found all the same.
    found = asyncio.run(examine([Layers(False, False, False), *CHOICES[2:3]]))
    assert len(found.missing) < 7
    assert set(found.held) | set(found.missing) == set(PROPERTIES)
