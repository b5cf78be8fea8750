import copy

import pytest

from rotajax.tasks.manifest import read_manifest
from rotajax.tasks.suite import SuiteInfo
from rotajax.train.guard import TEST_SPLIT, forbidden_icons, require_no_test_icons


def info(rows):
    return SuiteInfo(id="mine", version=1, sha256="0" * 64, rows=tuple(rows))


def test_a_suite_with_one_test_icon_is_refused_by_its_hash(suite):
    rows = copy.deepcopy(list(suite.info.rows))
    require_no_test_icons(info(rows))
    stolen = read_manifest(TEST_SPLIT)["tasks"][17]["icon"]
    rows[1]["icon"] = {**rows[1]["icon"], "path": "renamed.svg", "sha256": stolen["sha256"]}
    with pytest.raises(ValueError, match=r"expected no icon of the test split rota674-test, got renamed\.svg"):
        require_no_test_icons(info(rows))


def test_the_test_split_is_whole():
    assert len(forbidden_icons()) == 100


def test_training_refuses_before_it_writes(suite, recipe, tmp_path, monkeypatch):
    from rotajax.train import guard, run

    monkeypatch.setattr(guard, "forbidden_icons", lambda: frozenset({suite.info.rows[0]["icon"]["sha256"]}))
    with pytest.raises(ValueError, match="no icon of the test split"):
        run.train(recipe, suite, tmp_path / "out", progress=False)
    assert not (tmp_path / "out").exists()
