import asyncio
import functools

import pytest

from jails import KINDS, play
from rotajax.solvers.agents.probe import broken
from rotajax.solvers.agents.sandbox import SandboxError
from rotajax.tasks.suite import load_suite
from suites import write_tiny_suite


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("suite") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    return load_suite(tiny_folder)


@pytest.fixture(scope="session")
def opens():
    """Why a kind of sandbox does not open here; None where it does."""

    def why(kind):
        try:
            (outcome,) = play(KINDS[kind], "print('in')")
        except SandboxError as error:
            return str(error)
        assert outcome.output == "in\n"
        return None

    return {kind: why(kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def layers(request, opens):
    if opens[request.param]:
        pytest.skip(f"{request.param}: {opens[request.param]}")
    return KINDS[request.param]


@pytest.fixture(scope="session")
def gets_around():
    """What code gets around in a kind of sandbox: the attacks run once for each."""
    return functools.cache(lambda layers: asyncio.run(broken(layers)))
