"""Model-written code that uses more than it may, or tries to stay: each ends at its limit, and the next run works."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from jails import AGAIN, KINDS, SMALL, children, goes_on, play, running
from rotajax.solvers.agents.sandbox import LONGEST_CODE, Layers, Sandbox


def test_fork_bomb(layers):
    code = """
        import os
        while True:
            os.fork()
    """
    first, second = play(layers, code, AGAIN)
    assert (first.ended, first.code) == ("exit", 1)
    assert "PermissionError" in first.output
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
    assert 0.5 <= first.seconds < 60
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


@pytest.mark.parametrize("make", ["os.mkdir(f'd{n}')", "open(f'closed/{n}', 'w').write('x')"])
def test_names_fill_a_workspace_too(layers, make):
    code = f"""
        import os
        os.mkdir("closed", 0o300)  # its names cannot be listed
        for n in range(100_000):
            {make}
    """
    first, second = play(layers, code, AGAIN)
    if layers.namespaces:
        assert "No space left on device" in first.output
    else:
        assert first.ended == "workspace"
    assert goes_on(second)


def test_trimming_keeps_what_was_there_first(opens):
    if opens["filters"]:
        pytest.skip(opens["filters"])
    code = """
        for n in range(100_000):
            open(f"small{n}", "w").write("x")
    """
    left = "import os; print(open('kept').read(), len(os.listdir('.')))"
    first, second = play(KINDS["filters"], code, left, files={"kept": b"here"})
    assert first.ended == "workspace"
    assert second.output == f"here {(SMALL.workspace_mib << 20) // 2 // (16 << 10)}\n"


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
        # Where the machine runs out of memory, it is not the host that goes.
        assert {Path(f"/proc/{each}/oom_score_adj").read_text() for each in inside} == {"1000\n"}
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await box.aclose()
        return inside

    inside = asyncio.run(cancel())
    assert inside
    assert not any(Path(f"/proc/{each}").exists() for each in inside)
