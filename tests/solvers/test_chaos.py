"""A run that is killed with -9 while every fifth answer is wrong ends as if nothing had happened."""

import os
from pathlib import Path

import pytest

from chaos import chaos
from suites import write_tiny_suite

REAL = os.environ.get("ROTAJAX_SUITE")


def test_kills_and_faults_change_nothing(tmp_path):
    suite = write_tiny_suite(tmp_path / "tiny")
    found = chaos(suite, 3, 2, tmp_path / "runs", rate=0.3)
    assert found["episodes"] == 3
    assert sum(found["faults"].values()) > 0
    assert found["on the disk when killed"][-1] > 0


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="set ROTAJAX_SUITE to the folder of a suite of 100 real tasks")
def test_a_hundred_tasks_and_ten_kills(tmp_path):
    found = chaos(Path(REAL), 100, 10, tmp_path / "runs")
    assert (found["episodes"], len(found["on the disk when killed"])) == (100, 10)
