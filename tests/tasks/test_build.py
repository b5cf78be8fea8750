import json
from hashlib import sha256

import pytest

from rotajax.cli import main
from rotajax.tasks import build
from rotajax.tasks.build import build_suite
from rotajax.tasks.folder import canonical, read_document
from rotajax.tasks.suite import load_suite


def rows_of(path):
    return {row["id"]: row for row in read_document(path)["tasks"]}


def contents(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_disc_is_left_out_with_its_reason(built, capfd, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(built.cache))
    rows = rows_of(built.whole)
    paths = sorted(str(file.relative_to(built.icons)) for file in built.icons.rglob("*.svg"))
    # Its number is not given to another one.
    assert {row["icon"]["path"]: task for task, row in rows.items()} == {
        path: f"single_{number:05d}" for number, path in enumerate(paths) if not path.endswith("disc.svg")
    }
    assert all(row["reference"] is None and row["lower_bound"] is None for row in rows.values())
    suite = load_suite(built.whole)
    assert suite.ids == sorted(rows)
    assert (suite.tasks.solid.count > 2000).all()


def test_the_limit_is_filled_up_and_changes_no_task(built, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(built.cache))
    monkeypatch.setattr(build, "TRIES", 3)  # a hundred take a minute
    for name, limit in (("two", 2), ("three", 3)):
        build_suite(built.icons, tmp_path / name, suite_id="some", limit=limit, seed=built.seed, workers=1)
        said = capfd.readouterr().err
        assert said.count("left out: rotationally trivial, 100 starts were all aligned") == 1
        assert "disc.svg): left out" in said
    two, whole = rows_of(tmp_path / "two"), rows_of(built.whole)
    assert len(two) == 2
    assert two == {task: whole[task] for task in two}
    # The same bytes from another number of workers, with a limit and without.
    assert contents(tmp_path / "three") == contents(built.whole)
    # No scratch is left behind.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["three", "two"]


def test_a_task_s_seed_is_of_the_suite_s_seed_and_the_icon_s_path(built):
    rows = rows_of(built.whole).values()
    assert [row["seed"] for row in rows] == [build.task_seed(built.seed, row["icon"]["path"]) for row in rows]
    assert len({build.task_seed(seed, path) for seed in range(50) for path in ("a/b.svg", "a/c.svg")}) == 100
    # Written down: frozen suites were drawn so.
    assert build.task_seed(0, "a/b.svg") == int(sha256(b"rotajax.task/1 0 a/b.svg").hexdigest()[:8], 16)


@pytest.mark.slow
def test_an_empty_cache_gives_the_same_bytes(built, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build_suite(built.icons, tmp_path / "out", suite_id="some", seed=built.seed, workers=1)
    assert contents(tmp_path / "out") == contents(built.whole)


def test_what_is_in_the_way_is_refused_before_anything_is_drawn(built, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "scan", lambda *_, **__: pytest.fail("scanned"))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    cases = {
        "suite: --out: expected a new or empty folder, got a file": {"out": tmp_path / "file"},
        "suite: --out: expected a new or empty folder, got a folder with files in it": {"out": tmp_path / "full"},
        "suite build: --limit: expected a whole number of at least 1, got 0": {"limit": 0},
        "suite build: --icons: expected a folder, got nothing at": {"icons": tmp_path / "none"},
        "suite build: --icons: expected a folder, got a file": {"icons": tmp_path / "file"},
    }
    for message, change in cases.items():
        with pytest.raises(ValueError) as caught:
            build_suite(**{"icons": built.icons, "out": tmp_path / "new", **change})
        assert str(caught.value).startswith(message)
    assert (tmp_path / "file").read_text() == (tmp_path / "full" / "mine").read_text() == "mine"
    assert not (tmp_path / "new").exists()


def test_more_than_there_is_is_refused(built, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(built.cache))
    with pytest.raises(ValueError, match=r"^suite build: --limit: expected at most 4 accepted icons, got 5$"):
        build_suite(built.icons, tmp_path / "out", limit=5)
    monkeypatch.setattr("rotajax.cli.setup.prepare_jax", lambda **_: None)
    (tmp_path / "poor" / "a").mkdir(parents=True)
    (tmp_path / "poor" / "a" / "a.svg").write_text("<svg/>")
    assert main(["suite", "build", "--icons", str(tmp_path / "poor"), "--out", str(tmp_path / "out")]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("rotajax: suite build: icons in ")
    assert line.endswith("expected at least one that passes the filters, got none")
    assert not (tmp_path / "out").exists()


def test_the_document_is_what_it_says(built):
    text = (built.whole / "suite.json").read_text()
    document = json.loads(text)
    assert (document["format"], document["id"], document["version"]) == ("rotajax.suite/1", "some", 1)
    assert canonical(document) == canonical(read_document(built.whole))
    assert "NaN" not in text
    assert text.count('"digest"') == len(document["tasks"]) == 3
