"""The package as a stranger has it: the README's snippets and commands, from outside the checkout, on the wheel."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[1].resolve()
wheel = pytest.mark.skipif("ROTAJAX_INSTALLED" not in os.environ, reason="runs on the built wheel: make test")


def blocks(language: str) -> list[str]:
    """The README's fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@wheel
def test_the_wheel_is_what_is_tested(tmp_path):
    where = run(sys.executable, "-c", "import rotajax; print(rotajax.__file__)", cwd=tmp_path)
    assert not Path(where.strip()).resolve().is_relative_to(ROOT)


@wheel
def test_the_embedded_suite_is_in_the_wheel(tmp_path):
    code = "import rotajax as rx; s = rx.load_suite('mini'); print(len(s), s.info.sha256)"
    count, sha256 = run(sys.executable, "-c", code, cwd=tmp_path).split()
    assert int(count) >= 24
    assert sha256 in (ROOT / "data/suites/mini/suite.json").read_text(encoding="utf-8")


@wheel
def test_the_snippets_run_one_after_the_other(tmp_path):
    snippets = blocks("python")
    assert len(snippets) >= 2
    out = run(sys.executable, "-c", "\n".join(snippets), cwd=tmp_path)
    assert "IoU 0." in out
    assert "[1 1 1 1]" in out


@wheel
def test_the_commands_run(tmp_path):
    commands = [line for block in blocks("sh") for line in block.splitlines() if line]
    assert len(commands) >= 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "rotajax"
        run(sys.executable, "-m", "rotajax", *arguments, cwd=tmp_path)
    assert (tmp_path / "task.png").stat().st_size > 1000
    assert (tmp_path / "runs/try/summary.json").exists()
