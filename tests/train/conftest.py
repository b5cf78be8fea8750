import jax
import pytest

from suites import write_tiny_suite

pytest.importorskip("equinox", reason="needs the extra 'train'")
pytest.importorskip("orbax.checkpoint", reason="needs the extra 'train'")


@pytest.fixture(autouse=True)
def plain_promotion():
    """Optax's schedules mix kinds: training runs, and is tested, under jax's own rules of promotion."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    return write_tiny_suite(tmp_path_factory.mktemp("train") / "tiny")


@pytest.fixture(scope="session")
def suite(tiny_folder):
    from rotajax.tasks.suite import load_suite

    return load_suite(tiny_folder)


@pytest.fixture(scope="session")
def world(suite):
    from rotajax.train.world import make_world

    return jax.device_put(make_world(suite))


@pytest.fixture(scope="session")
def lookup():
    from rotajax.train.belief import tables

    return jax.device_put(tables())


@pytest.fixture(scope="session")
def recipe():
    from rotajax.train.recipe import Recipe

    shape = {"width": 8, "depth": 1, "match": 4, "nudge": 8, "free": 8, "games": 2, "turns": 2, "epochs": 1, "batch": 4}
    return Recipe(updates=8, loop=2, warmup=2, **shape).check()
