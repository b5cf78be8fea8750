"""`require_extra`: one line that names the extra to install where a package of training is absent."""

from importlib.util import find_spec

from rotajax.checks import require

PACKAGES = ("equinox", "optax", "orbax.checkpoint", "gymnasium")


def require_extra(*packages: str) -> None:
    """Raise ValueError unless the packages can be imported (default: all that training needs)."""
    for package in packages or PACKAGES:
        found = find_spec(package.partition(".")[0]) is not None
        require(found, "train", "the extra 'train' (pip install 'rotajax[train]')", f"no package {package}")
