"""Every experiment runs with small settings, as its README says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from played import write_played
from suites import write_tiny_suite

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))
SCRIPTS = sorted(file.stem for file in (ROOT / "experiments").glob("*.py") if file.stem not in ("__init__", "common"))
FILES = {
    "ablations_training": ["training_ablations.json"],
    "figure3_curves": ["curves.md", "iou_curves.png", "iou_curves.svg"],
    "figure4_associations": ["associations.csv", "associations.png"],
    "paper_differences": ["paper_differences.json"],
    "table1_baselines": ["summary.json"],
    "table2_angles": ["angles.json", "associations.json", "summary.json"],
    "table8_matched": ["matched.json", "differences.json", "matched.svg"],
    "table9_trajectories": ["trajectories.json"],
    "table11_intervals": ["success.json"],
    "table12_outcomes": ["outcomes.json", "outcomes.png"],
    "table17_oracles": ["oracles.json", "oracles.png"],
}
pytestmark = pytest.mark.skipif(not SCRIPTS, reason="the experiments are in the checkout only")


def run(script, *words):
    command = [sys.executable, "-m", f"experiments.{script}", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return write_played(tmp_path_factory.mktemp("experiments"), ("pose_greedy", "uniform_random"))


def test_each_script_is_in_the_readme_and_tested():
    text = (ROOT / "experiments" / "README.md").read_text()
    assert all(f"| `{script}` |" in text for script in SCRIPTS)
    assert sorted([*FILES, "split_draws", "table6_7_paths"]) == SCRIPTS


@pytest.mark.parametrize("script", FILES)
def test_a_script_writes_its_table_from_a_run(script, played, tmp_path):
    folder, suite = played
    words = ["--suite", suite, "--run", folder, "--out", tmp_path / "out"]
    words += ["--limit", 1] if script == "ablations_training" else []  # it plays, whatever is given
    words += ["--nocoverage"] if script in ("table1_baselines", "table8_matched") else []
    done = run(script, *words)
    assert done.returncode == 0, done.stderr
    assert [name for name in FILES[script] if not (tmp_path / "out" / name).is_file()] == []
    assert "written to" in done.stdout


def test_a_script_plays_where_no_run_is_given(tmp_path):
    suite = write_tiny_suite(tmp_path / "tiny")
    words = ["--suite", suite, "--limit", 1, "--policies", "pose_greedy", "--out", tmp_path / "out"]
    done = run("table9_trajectories", *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out" / "trajectories.json").read_text())
    assert rows[0]["pose_improving_pct"] == 100.0
    # Played once: the second time its run is read.
    again = run("table9_trajectories", *words)
    assert again.stdout == done.stdout


def test_the_figures_of_drawn_splits_lie_about_those_of_the_whole(tmp_path):
    """On the embedded suite, whose tasks carry reference paths; drawing all that are long enough leaves no spread."""
    words = ["--policies", "pose_greedy", "--limit", 16, "--draws", 20, "--out", tmp_path]
    done = run("split_draws", *words, "--places", 8)
    assert done.returncode == 0, done.stderr
    rows = {row["metric"]: row for row in json.loads((tmp_path / "split_draws.json").read_text())}
    assert rows["steps"]["low"] < rows["steps"]["all"] < rows["steps"]["high"]
    assert 0 <= rows["steps"]["beyond"] <= 100
    assert rows["success_pct"]["low"] == rows["success_pct"]["high"] == 100.0
    every = run("split_draws", *words, "--places", 16)
    assert every.returncode == 0, every.stderr
    rows = {row["metric"]: row for row in json.loads((tmp_path / "split_draws.json").read_text())}
    assert rows["steps"]["low"] == rows["steps"]["high"] == pytest.approx(rows["steps"]["all"])
    more = run("split_draws", *words, "--places", 17)
    assert "select: places" in more.stderr


def test_given_rates_have_the_papers_intervals(tmp_path):
    done = run("table11_intervals", "--rates", "17/100,5/30", "--out", tmp_path)
    assert "17.00 [10.89, 25.55]" in done.stdout
    assert "16.67 [7.34, 33.56]" in done.stdout


def test_weights_reach_the_asked_mean_and_disturb_least():
    from experiments.paper_differences import tilt

    values = np.array([30.0, 80.0, 100.0, 170.0])
    weights = tilt(values, 92.4)
    assert weights is not None
    assert weights.sum() == pytest.approx(1)
    assert weights @ values == pytest.approx(92.4)
    # Least relative entropy: the logarithms of the weights lie on a line of the values.
    slopes = np.diff(np.log(weights)) / np.diff(values)
    assert slopes == pytest.approx(slopes[0])
    assert tilt(values, 20.0) is None


def test_paths_of_a_searched_suite(tmp_path):
    from rotajax.tasks import folder

    suite = write_tiny_suite(tmp_path / "tiny")
    done = run("table6_7_paths", "--suite", suite, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr == "suite tiny: expected one with reference paths (rotajax suite search), got none\n"
    document = folder.read_document(suite)
    rows = []
    for extra, row in enumerate(document["tasks"]):
        shortest = row["start"][1 + extra :]
        paths = {"reference": [["YAW_POS", 30]] * (len(row["start"]) - extra), "shortest": [[d, 30] for d in shortest]}
        rows.append(row | paths | {"lower_bound": len(shortest) - (extra == 2)})
    new = folder.make_document(document["id"], rows, version=document["version"])
    (suite / "suite.json").write_text(folder.document_text(new))
    done = run("table6_7_paths", "--suite", suite, "--limit", 0, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    table = {
        row["reference"]: row["tasks"] for row in json.loads((tmp_path / "out" / "path_comparison.json").read_text())
    }
    assert table == {"shorter": 2, "equal": 1, "longer": 0, "proved shortest": 2}
    lengths = json.loads((tmp_path / "out" / "path_lengths.json").read_text())
    mean = sum(len(row["start"]) for row in rows) / 3
    assert [row["mean"] for row in lengths[:2]] == pytest.approx([mean, mean - 1])


def test_mistakes_are_one_line(tmp_path):
    done = run("figure3_curves", "--suite", "nowhere", "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "got nothing at 'nowhere'" in done.stderr
