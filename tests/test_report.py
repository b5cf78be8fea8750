import base64
import csv
import json
import zlib

import numpy as np
import pytest

from played import HOSTILE, write_played
from rotajax.analysis import load
from rotajax.cli import main
from rotajax.records import open_run
from rotajax.reports.entries import make_entries
from rotajax.reports.files import markdown
from rotajax.reports.layout import Column, Table, mark
from rotajax.reports.replay import replays
from rotajax.tasks.folder import mask_sha256
from runs import ASKED, episode, write_run


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr("rotajax.cli.analyse.prepare_jax", lambda **_: None)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return write_played(tmp_path_factory.mktemp("report"))


def analyse(*words):
    # The IoUs of the runs here are invented: nothing is drawn again.
    return main([*(str(word) for word in words), "--draw", "0"])


def report(played, out, *words):
    run, suite = played
    return analyse("analyse", run, "--suite", suite, "--out", out, "--no-coverage", *words)


@pytest.fixture(scope="module")
def written(played, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rotajax.cli.analyse.prepare_jax", lambda **_: None)
        assert report(played, out, "--paper") == 0
    return out


def test_every_table_and_picture_is_there_and_listed(written):
    tables = ["angles", "associations", "curves", "divergences", "episodes", "oracles", "outcomes", "success"]
    tables += ["summary", "trajectories"]
    files = [f"{name}.{kind}" for name in tables for kind in ("csv", "json", "md")]
    files += [
        f"{name}.{kind}" for name in ("associations", "iou_curves", "oracles", "outcomes") for kind in ("png", "svg")
    ]
    listed = json.loads((written / "report.json").read_text())["files"]
    assert sorted(listed) == sorted({*files, "index.html"})
    assert {path.name for path in written.iterdir()} == {*listed, "report.json"}
    assert (written / "iou_curves.png").read_bytes().startswith(b"\x89PNG")
    assert (written / "index.html").stat().st_size < 2_000_000


def test_csv_json_and_markdown_say_the_same(written):
    rows = json.loads((written / "summary.json").read_text())
    with (written / "summary.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["policy"] for row in table] == [row["policy"] for row in rows]
    good = table[0]
    assert (float(good["success_pct"]), float(good["steps"]), good["coverage_pct"]) == (100.0, 3.0, "")
    assert float(good["success_pct_low"]) == pytest.approx(rows[0]["success_pct_ci95"][0])
    text = (written / "summary.md").read_text()
    assert "| good " in text
    assert "100.0 [34.2, 100.0]" in text
    assert "| Human, paper " in text
    assert text.rstrip().splitlines()[-1].startswith("(")


def test_a_second_report_replaces_the_first_with_the_same_bytes(played, tmp_path):
    out = tmp_path / "report"
    assert report(played, out) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "mine.txt").write_text("kept")
    meta = json.loads((out / "report.json").read_text())
    (out / "old.md").write_text("of an earlier version")
    (out / "report.json").write_text(json.dumps(meta | {"files": [*meta["files"], "old.md", "../elsewhere.md"]}))
    (tmp_path / "elsewhere.md").write_text("kept")
    assert report(played, out) == 0
    assert not (out / "old.md").exists()
    assert (tmp_path / "elsewhere.md").read_text() == "kept"
    assert (out / "mine.txt").read_text() == "kept"
    assert {name: (out / name).read_bytes() for name in before} == before


def test_compare_has_paired_differences_and_matched_states(played, tmp_path):
    run, suite = played
    words = ("--policies", "good", HOSTILE, "--suite", suite, "--no-coverage", "--replays", 0)
    assert analyse("compare", run, run, *words, "--out", tmp_path / "out") == 0
    rows = {row["metric"]: row for row in json.loads((tmp_path / "out" / "differences.json").read_text())}
    assert rows["success_pct"]["difference"] == 100.0
    # Finals 0.95, 0.95 against 0.3, 0.4.
    assert rows["final_iou"]["difference"] == pytest.approx(0.6, abs=1e-6)
    assert rows["final_iou"]["difference_ci95"] == pytest.approx([0.55, 0.65], abs=1e-6)
    # Both turned by yaw 30 first and then met at the same pose.
    matched = json.loads((tmp_path / "out" / "matched.json").read_text())
    assert [row["pairs"] for row in matched] == [2, 2, 2]
    assert matched[0]["iou_change"] == pytest.approx(0.05, abs=1e-6)
    assert matched[1]["iou_change"] == pytest.approx((-0.2 - 0.1) / 2, abs=1e-6)
    assert (tmp_path / "out" / "matched.svg").exists()


def test_methods_that_never_met_have_reasons_and_an_empty_picture(played, tmp_path):
    run, suite = played
    lines = [json.loads(line) for line in (run / "episodes.jsonl").read_text().splitlines()]
    task = next(line for line in lines if line["policy"] == "good")
    stop = episode(task["task"], 0, np.reshape(task["rotation"], (3, 3)), [("STOP", 0)], [0.4, 0.4], "stop", "good")
    with open_run(tmp_path / "still", json.loads((run / "run.json").read_text())["asked"], device="none") as writer:
        writer.append(stop)
    words = ("--suite", suite, "--no-coverage", "--replays", 0, "--out", tmp_path / "out")
    assert analyse("compare", tmp_path / "still", run, *words) == 0
    matched = json.loads((tmp_path / "out" / "matched.json").read_text())
    assert [(row["pairs"], row["iou_change"], row["iou_change_ci95_reason"]) for row in matched] == [
        (0, None, "nothing to average")
    ] * 3
    assert (tmp_path / "out" / "matched.png").exists()


def test_two_runs_pair_methods_of_one_name(played, tmp_path):
    run, suite = played
    other, _ = write_played(run.parent, ("good", "third"), name="other")
    words = ("--suite", suite, "--no-coverage", "--replays", 0, "--out", tmp_path / "out")
    assert analyse("compare", run, other, *words) == 0
    pairs = {row["pair"] for row in json.loads((tmp_path / "out" / "differences.json").read_text())}
    assert pairs == {"good (run) − good (other)"}


def test_coverage_is_measured_where_the_rays_are(played, tmp_path):
    pytest.importorskip("embreex")
    run, suite = played
    assert analyse("analyse", run, "--suite", suite, "--replays", 0, "--out", tmp_path / "out") == 0
    rows = json.loads((tmp_path / "out" / "episodes.json").read_text())
    assert all(20 < row["coverage_pct"] < 100 for row in rows)
    row = json.loads((tmp_path / "out" / "summary.json").read_text())[0]
    assert row["coverage_pct"] == pytest.approx(np.mean([r["coverage_pct"] for r in rows if r["policy"] == "good"]))


@pytest.fixture
def refused(capsys):
    def run(*words):
        assert analyse(*words) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1, captured.err
        return captured.err.strip()

    return run


def test_bad_input_is_one_line_and_writes_nothing(refused, played, tmp_path):
    run, suite = played
    out = tmp_path / "out"
    end = ("--suite", suite, "--out", out)
    assert "expected a run folder, got nothing at 'nowhere'" in refused("analyse", "nowhere", *end)
    with open_run(
        tmp_path / "empty", {"suite": json.loads((run / "run.json").read_text())["asked"]["suite"]}, device=""
    ):
        pass
    assert "expected at least one finished episode, got none" in refused("analyse", tmp_path / "empty", *end)
    assert "tiny version 1" in refused("analyse", write_run(tmp_path / "hand"), *end)
    assert "expected its folder to be given, got none" in refused("analyse", run, "--out", out)
    old = tmp_path / "old"
    with open_run(old, ASKED, device="none"):
        pass
    (old / "run.json").write_text((old / "run.json").read_text().replace("rotajax.run/1", "rotajax.run/9"))
    assert "expected rotajax.run/1, got 'rotajax.run/9'" in refused("analyse", old, *end)
    assert "each run once" in refused("analyse", run, run, *end)
    assert "--replays: expected a whole number of at least 0, got -1" in refused("analyse", run, *end, "--replays", -1)
    assert "got one run" in refused("compare", run, run, *end)
    assert not out.exists()


def test_policies_are_checked_before_anything_long(refused, played, tmp_path, monkeypatch):
    pytest.importorskip("embreex")
    monkeypatch.setattr("rotajax.reports.entries.measure_coverage", lambda *_, **__: pytest.fail("measured"))
    run, suite = played
    words = ("compare", run, run, "--suite", suite, "--out", tmp_path / "out", "--policies")
    assert "'good' twice" in refused(*words, "good", "good")
    assert "expected one of good" in refused(*words, "x", "good")
    assert not (tmp_path / "out").exists()


def test_folders_of_something_else_stay_as_they_are(refused, played, tmp_path):
    run, suite = played
    (tmp_path / "thesis.tex").write_text("mine")
    assert "one that holds ['thesis.tex']" in refused("analyse", run, "--suite", suite, "--out", tmp_path)
    assert "got a file" in refused("analyse", run, "--suite", suite, "--out", tmp_path / "thesis.tex")
    assert "a new or empty folder" in refused("analyse", run, "--suite", suite, "--out", run)
    (tmp_path / "report.json").write_text("[]")
    assert "expected rotajax.report/1, got 'another file'" in refused(
        "analyse", run, "--suite", suite, "--out", tmp_path
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "thesis.tex"]


def test_parquet_needs_pyarrow_and_says_so(refused, played, tmp_path, monkeypatch):
    run, suite = played
    monkeypatch.setattr("rotajax.reports.files.find_spec", lambda name: None)
    words = ("analyse", run, "--suite", suite, "--out", tmp_path / "out", "--no-coverage", "--parquet")
    assert "--parquet: expected pyarrow (pip install 'rotajax[parquet]'), got none" in refused(*words)


def test_parquet_reads_back(played, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    assert report(played, tmp_path / "out", "--parquet", "--replays", 0) == 0
    rows = pq.read_table(tmp_path / "out" / "episodes.parquet").to_pylist()
    assert [row["steps"] for row in rows] == [3, 3, 2, 2]


def test_successor_tables_are_stored_when_asked_for(played, tmp_path):
    words = ("--successors", "--replays", 0)
    assert report(played, tmp_path / "out", *words) == 0
    data = (tmp_path / "out" / "successors.npz").read_bytes()
    assert report(played, tmp_path / "out", *words) == 0
    assert (tmp_path / "out" / "successors.npz").read_bytes() == data
    with np.load(tmp_path / "out" / "successors.npz") as found:
        table = dict(found)
    methods = load(*played).methods
    # Three rotations on each of two tasks; one less for who stops.
    assert table["policy"].tolist() == [method.name for method in methods for _ in range(len(method.steps))]
    assert table["pose_error_after"].shape == (6 + 4, 24)
    # What was taken is what the run says, and YAW_POS 30 is where the policies began.
    taken = table["pose_error_after"][np.arange(10), table["action"]]
    assert taken == pytest.approx(np.concatenate([method.steps.pose_error_after for method in methods]), abs=1e-4)
    assert table["actions"][table["action"][0]] == "YAW_POS_30"
    assert table["pose_error_before"][table["t"] == 1] == pytest.approx(taken[table["t"] == 0])
    assert report(played, tmp_path / "out", "--replays", 0) == 0
    assert not (tmp_path / "out" / "successors.npz").exists()


def test_successor_tables_in_parquet(played, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    assert report(played, tmp_path / "out", "--successors", "--parquet", "--replays", 0) == 0
    columns = pq.read_table(tmp_path / "out" / "successors.parquet").to_pydict()
    with np.load(tmp_path / "out" / "successors.npz") as table:
        assert columns["pose_error_YAW_POS_30"] == table["pose_error_after"][:, 11].tolist()
        assert columns["task"] == table["task"].tolist()


def test_marks_and_bars_in_markdown():
    rows = [{"name": "a|b", "x": None, "x_ci95": None, "x_ci95_reason": "why"}, {"name": "c", "x": -0.001}]
    table = Table("t", "T", "N.", (Column("name", "name"), Column("x", "x", 2)), rows)
    assert markdown(table).splitlines()[6:8] == ["| a\\|b | – (a) |", "| c    |  0.00 |"]
    assert markdown(table).endswith("(a) why\n")
    assert (mark(25), mark(26), mark(53)) == ("z", "aa", "bb")


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


def test_replays_hold_every_episode_and_say_what_they_leave_out(played):
    analysis = load(*played)
    entries = make_entries([analysis])
    whole = replays(entries, 99)
    assert [each["actions"] for each in whole["episodes"]] == [[11, 5, 11], [11, 6, 11], [11, 20, 24], [11, 20, 24]]
    # A frame for every decision; STOP leaves none behind it.
    assert whole["episodes"][0]["iou"] == [0.4, 0.5, 0.55, 0.95]
    assert whole["episodes"][2]["iou"] == [0.4, 0.5, 0.3]
    assert [len(each["error"]) for each in whole["episodes"]] == [4, 4, 3, 3]
    assert whole["note"] == ""
    assert list(whole["tasks"]) == list(analysis.run.tasks)
    task, row = whole["tasks"]["single_00001"], analysis.suite.info.rows[1]
    mask = np.unpackbits(np.frombuffer(unpack(task["mask"]), np.uint8)).astype(bool).reshape(512, 512)
    assert mask_sha256(mask) == row["mask_sha256"]
    assert (task["seed"], task["circle"]) == (row["seed"], row["circle"])
    assert np.float32(task["start"]).reshape(3, 3).tolist() == np.asarray(analysis.suite.tasks.start[1]).tolist()
    capped = replays(entries, 1)
    assert [each is None for each in capped["episodes"]] == [False, True, False, True]
    assert capped["note"] == "Of 2 episodes there is no replay here (--replays)."
    assert list(capped["tasks"]) == ["single_00000"]
    assert replays(entries, 0) is None


def test_replies_stand_beside_their_decisions_until_the_page_is_full(played, tmp_path):
    run, suite = played
    lines = [json.loads(line) for line in (run / "episodes.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["policy"] == "good"]
    for line in lines[:4]:
        line["cot"] = f"{line['kind']} {line.get('t')} \ud800"
    lines[2]["cot"] = 7  # no text
    with open_run(tmp_path / "told", json.loads((run / "run.json").read_text())["asked"], device="none") as writer:
        writer.append(lines)
    entries = make_entries([load(tmp_path / "told", suite)])
    first, second = replays(entries, 99)["episodes"]
    assert json.loads(unpack(first["replies"])) == ["decision 0 ?", "decision 1 ?", "", "episode None ?"]
    assert "replies" not in second
    short = replays(entries, 99, texts=10)
    assert "replies" not in short["episodes"][0]
    assert short["note"] == "The replies of 1 episodes were left out: the page would be too large."


def test_ious_that_agree_with_each_other_and_not_with_the_pictures_are_refused(played, tmp_path, capsys):
    run, suite = played
    words = ["analyse", str(run), "--suite", str(suite), "--out", str(tmp_path / "out"), "--no-coverage"]
    assert main(words) == 2
    assert "as drawn, got 0.4" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*words, "--draw", "-1"]) == 2
    assert "--draw: expected a whole number of at least 0, got -1" in capsys.readouterr().err
