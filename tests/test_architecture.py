import ast
import inspect
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import rotajax

PACKAGE = Path(find_spec("rotajax").origin).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# A room imports rooms of a smaller number, and itself.
ROOMS = {
    **dict.fromkeys(("types", "checks", "files", "processes"), 0),
    "devices": 0.5,  # processes share their devices
    "icons": 1,
    "geometry": 2,
    **dict.fromkeys(("render", "compare"), 3),
    "tasks": 4,
    "env": 5,
    "search": 6,
    "policies": 6.5,  # may look ahead with search
    "records": 6.7,  # for analysis, reports and the edges
    "analysis": 7,
    "reports": 8,
}
EDGE = 9
HEAVY = ("matplotlib", "cairosvg", "PIL.ImageShow", "scipy.optimize", "anthropic", "openai")


def room(module):
    """The room of rotajax.<room>...; whatever has no number is an edge."""
    return module.split(".")[1]


def number(name):
    return ROOMS.get(name, EDGE)


def imports(file):
    """(room imported, line) of every import of the package, also those inside functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("rotajax."):
                yield room(name), node.lineno


def own_room(file):
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_go_downwards(file):
    own = own_room(file)
    if own in ("__init__", "__main__"):
        return
    for other, line in imports(file):
        if other == own or other == "__version__":
            continue
        below = number(other) < number(own)
        # Edges may call one another; nothing else calls an edge.
        both_edges = number(own) == number(other) == EDGE
        assert below or both_edges, f"{file}:{line}: {own} imports {other}"


def test_the_public_names_come_from_no_edge():
    for other, line in imports(PACKAGE / "__init__.py"):
        assert number(other) < EDGE, f"rotajax/__init__.py:{line}: imports {other}"


def test_files_stay_short():
    lengths = {str(file.relative_to(PACKAGE)): len(file.read_text().splitlines()) for file in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_every_file_says_what_it_is():
    silent = [str(file) for file in FILES if not ast.get_docstring(ast.parse(file.read_text()))]
    assert silent == []


def run(code, **env):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env}, timeout=120
    )


def test_importing_touches_no_device():
    # A platform that does not exist: the first array would fail.
    bare = run("import rotajax; print(len(rotajax.__all__))", JAX_PLATFORMS="nowhere")
    assert bare.returncode == 0, bare.stderr
    assert int(bare.stdout) == len(rotajax.__all__)
    touched = run("import rotajax, jax.numpy as jnp; jnp.zeros(3)", JAX_PLATFORMS="nowhere")
    assert touched.returncode != 0
    assert "nowhere" in touched.stderr


def test_importing_loads_nothing_heavy():
    code = f"import sys, rotajax; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(code).stdout.strip() == "[]"


def public_functions():
    return [name for name in rotajax.__all__ if inspect.isfunction(getattr(rotajax, name))]


def test_the_public_names_are_sorted_unique_and_there():
    assert len(set(rotajax.__all__)) == len(rotajax.__all__)
    assert all(hasattr(rotajax, name) for name in rotajax.__all__)


@pytest.mark.parametrize("name", public_functions())
def test_public_functions_are_documented_and_fully_annotated(name):
    function = getattr(rotajax, name)
    assert function.__doc__
    signature = inspect.signature(inspect.unwrap(function))
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter


@pytest.mark.parametrize("name", [n for n in rotajax.__all__ if inspect.isclass(getattr(rotajax, n))])
def test_public_classes_are_documented(name):
    documentation = getattr(rotajax, name).__doc__
    assert documentation
    assert not documentation.startswith(f"{name}("), "the dataclass's own signature is no docstring"
