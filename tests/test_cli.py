import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rotajax.cli import main, setup
from rotajax.files import take
from rotajax.tasks import folder as folder_of_suites
from suites import write_tiny_suite

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")


@pytest.fixture
def refused(monkeypatch, capsys):
    """Run the command line, which must end with status 2 and one line; return the line."""
    monkeypatch.setattr("rotajax.cli.baselines.prepare_jax", lambda **_: None)

    def run(*words):
        assert main([str(word) for word in words]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err.strip()

    return run


def test_mistakes_in_words_are_one_line(refused):
    assert refused("sing").startswith("rotajax: command: argument COMMAND: invalid choice: 'sing'")
    assert refused() == "rotajax: command: the following arguments are required: COMMAND (see rotajax --help)"
    assert "baselines: argument --seeds: invalid int value: 'x'" in refused("baselines", "--seeds", "x")
    assert "icons scan: the following arguments are required: --json" in refused("icons", "scan", ".")


def test_mistakes_in_what_is_asked_are_one_line_and_write_nothing(refused, folder, tmp_path):
    out = tmp_path / "out"
    base = ("baselines", "--suite", folder, "--out", out)
    assert refused("baselines", "--suite", "nowhere", "--out", out).endswith("got nothing at 'nowhere'")
    assert refused(*base, "--limit", 0) == "rotajax: load_suite: limit: expected a whole number of at least 1, got 0"
    assert "policy: expected one of uniform_random" in refused(*base, "--policies", "psychic")
    assert "--seeds: expected a whole number of at least 1, got 0" in refused(*base, "--seeds", 0)
    assert "--seed: expected a whole number of at least 0, got -1" in refused(*base, "--seed", -1)
    assert not out.exists()


def test_outputs_that_cannot_be_are_one_line(refused, folder, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    line = refused("baselines", "--suite", folder, "--out", file)
    assert line == f"rotajax: run: expected a folder, got a file: '{file}'"
    assert refused("baselines", "--suite", folder, "--out", file / "x").startswith("rotajax: Not a directory: ")
    assert "a folder without run.json that holds ['file']" in refused("baselines", "--suite", folder, "--out", tmp_path)
    assert file.read_text() == "mine"


def test_a_changed_suite_names_the_task(refused, tmp_path):
    suite = write_tiny_suite(tmp_path / "tiny")
    document = json.loads((suite / "suite.json").read_text())
    document["tasks"][1]["seed"] += 1
    (suite / "suite.json").write_text(json.dumps(document))
    assert "task single_00001 was changed" in refused("baselines", "--suite", suite, "--out", tmp_path / "out")


def test_scan_of_nothing_is_one_line(refused, tmp_path):
    assert "got nothing at" in refused("icons", "scan", tmp_path / "none", "--json", tmp_path / "out.json")
    assert "no folder" in refused("icons", "scan", tmp_path, "--json", tmp_path / "none" / "out.json")


def test_scan_counts_and_writes(tmp_path, capsys):
    (tmp_path / "icons" / "anne").mkdir(parents=True)
    (tmp_path / "icons" / "license.txt").write_text("Icons by anne are CC0\n")
    (tmp_path / "icons" / "anne" / "empty.svg").write_text("")
    assert main(["icons", "scan", str(tmp_path / "icons"), "--json", str(tmp_path / "out.json"), "--workers", "1"]) in (
        0,
        2,
    )
    captured = capsys.readouterr()
    assert "1 files, 0 accepted" in captured.out or captured.err.startswith("rotajax: ")


@pytest.mark.parametrize("words", [["--help"], ["baselines", "--help"], ["icons", "scan", "--help"], ["--version"]])
def test_help_teaches(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith("rotajax ") if words == ["--version"] else "example" in text


def test_ctrl_c_says_how_to_go_on(monkeypatch, capsys, folder):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rotajax.cli.baselines.prepare_jax", interrupt)
    assert main(["baselines", "--suite", str(folder)]) == 130
    assert "the same command again goes on where it was" in capsys.readouterr().err


def test_settings_of_the_user_stay(monkeypatch):
    monkeypatch.setattr(setup, "_keep_compiled", lambda: None)
    flag = "--xla_force_host_platform_device_count"
    monkeypatch.setenv("XLA_FLAGS", f"--other {flag}=7")
    setup.prepare_jax()
    assert os.environ["XLA_FLAGS"] == f"--other {flag}=7"
    setup.prepare_jax(devices=3)
    assert os.environ["XLA_FLAGS"] == f"--other {flag}=3"
    monkeypatch.setenv("XLA_FLAGS", "")
    setup.prepare_jax()
    assert os.environ["XLA_FLAGS"] == f"{flag}={setup.cores()}"
    with pytest.raises(ValueError, match="--devices: expected a whole number of at least 1, got 0"):
        setup.prepare_jax(devices=0)


def test_a_run_from_the_shell_with_a_cache_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR")}
    words = ["--suite", str(folder), "--policies", "pose_greedy", "--limit", "1", "--devices", "1", "--paper"]
    done = subprocess.run(
        [sys.executable, "-m", "rotajax", "baselines", *words, "--out", str(tmp_path / "out")],
        cwd=ROOT,
        env=environment | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "compiled programs are not kept" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[2].startswith("| pose_greedy ")
    assert lines[3].startswith("|   in the paper ")
    assert lines[-1] == f"1 tasks of suite tiny; written to {tmp_path / 'out'}"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["device"] == "1 x cpu"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "episodes.jsonl",
        "iou_steps.png",
        "run.json",
        "summary.json",
    ]


def _shell(words, **options):
    return subprocess.run(
        [sys.executable, "-m", "rotajax", *map(str, words)], cwd=ROOT, stderr=subprocess.PIPE, check=False, **options
    )


def test_a_reader_that_went_away_and_a_full_disk_end_without_a_traceback():
    words = ["suite", "verify", "mini"]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = _shell(words, stdout=closed)
    assert (done.returncode, done.stderr) == (1, b"")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = _shell(words, stdout=full)
        assert (done.returncode, done.stderr) == (2, b"rotajax: No space left on device\n")


def test_a_seed_that_jax_would_fold_into_another_is_refused(refused, folder, tmp_path):
    words = ("baselines", "--suite", folder, "--out", tmp_path / "out")
    assert "the last seed: expected at most 4294967295" in refused(*words, "--seed", 2**32 - 2)
    assert "the last seed: expected at most 4294967295" in refused(*words, "--seed", 10**30, "--seeds", 1)
    assert not (tmp_path / "out").exists()


def test_a_picture_has_a_name_a_folder_and_a_task(monkeypatch, refused, folder, tmp_path):
    monkeypatch.setattr("rotajax.cli.setup.prepare_jax", lambda **_: None)
    show = ("suite", "show", folder)
    assert "expected a file name that ends in .png" in refused(*show, "single_00000", "--out", tmp_path / "x.gif")
    assert "expected a file in an existing folder" in refused(*show, "single_00000", "--out", tmp_path / "no" / "x.png")
    assert "expected one of single_00000, " in refused(*show, "nope", "--out", tmp_path / "x.png")


def test_search_of_nothing_says_nothing_is_there(monkeypatch, refused, tmp_path):
    monkeypatch.setattr("rotajax.cli.setup.prepare_jax", lambda **_: None)
    assert refused("suite", "search", tmp_path / "no").endswith(
        f"expected a folder, got nothing at '{tmp_path / 'no'}'"
    )


def test_verify_checks_rows_whose_hashes_hold(refused, tmp_path):
    suite = write_tiny_suite(tmp_path / "tiny")
    document = folder_of_suites.read_document(suite)
    rows = [{k: v for k, v in row.items() if k not in ("digest", "icon")} for row in document["tasks"]]
    (suite / "suite.json").write_text(folder_of_suites.document_text(folder_of_suites.make_document("tiny", rows)))
    assert "task single_00000: icon: expected an object" in refused("suite", "verify", suite)


def test_two_searches_of_one_suite_are_refused(monkeypatch, refused, tmp_path):
    monkeypatch.setattr("rotajax.cli.setup.prepare_jax", lambda **_: None)
    suite = write_tiny_suite(tmp_path / "tiny")
    with (suite / "search.jsonl").open("a") as file:
        take(file.fileno(), "the test")
        assert refused("suite", "search", suite).endswith("nobody writes, got one that is being written")
    assert (suite / "search.jsonl").read_text() == ""
