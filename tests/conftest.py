"""What every test shares: strict jax settings, executed shape annotations, the real icons where they are."""

import os
import sys
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

import jax
import pytest
from jaxtyping import install_import_hook

# `from reference import renderer` works from every folder of the tests, and from outside the checkout.
sys.path.append(str(Path(__file__).parent))
# The shape annotations of the whole package are executed while the tests run.
install_import_hook("rotajax", "typecheck.check").__enter__()

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

ROOT = Path(__file__).parents[1]
ICONS = Path(os.environ.get("ROTAJAX_ICONS", ROOT.parent / "shared" / "game-icons"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="takes minutes: run with --slow"))


@pytest.fixture(scope="session")
def icons() -> Path:
    """The folder of real icons; a test that needs it is skipped where it is absent."""
    if not ICONS.is_dir():
        pytest.skip(f"no real icons at {ICONS} (set ROTAJAX_ICONS)")
    return ICONS
