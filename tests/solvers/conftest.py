import pytest

from rotajax.tasks.suite import load_suite
from suites import write_tiny_suite


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    return load_suite(tiny_folder)
