"""Model-written code that tries to get out: the network, other files, the host; and what is refused by name."""

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jails import AGAIN, SMALL, goes_on, play, run_all
from rotajax.solvers.agents import visible
from rotajax.solvers.agents.attacks import ATTACKS, PROPERTIES
from rotajax.solvers.agents.probe import CHOICES, Capabilities, available, examine
from rotajax.solvers.agents.sandbox import Layers, Sandbox, SandboxError
from suites import write_tiny_suite


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


def test_names_of_files_are_plain():
    for name in ("../out", "a/b", "", "..", "/etc/passwd"):
        with pytest.raises(ValueError, match="sandbox: file: expected a plain name"):
            asyncio.run(run_all(Layers(False, False, False), [], SMALL, {name: b""}, None))


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
