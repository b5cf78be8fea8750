"""Four icons, one of them a disc, and the suites that are built of them."""

import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from rotajax.tasks.build import build_suite

ROOT = Path(__file__).parents[2]
DISC = '<svg viewBox="0 0 512 512"><path d="M0 0h512v512H0z"/><circle cx="256" cy="256" r="200" fill="#fff"/></svg>'


@dataclass
class Built:
    icons: Path
    whole: Path  # of all icons
    seed: int  # draws the disc first
    cache: Path


def require_cairo():
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError) as error:
        pytest.skip(f"icons cannot be drawn here: {error}")


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Built:
    """Icons in a folder of their own, the suite of all of them, and a cache that nobody else uses."""
    require_cairo()
    root = tmp_path_factory.mktemp("built")
    icons = root / "icons"
    (icons / "rotajax").mkdir(parents=True)
    shutil.copy(ROOT / "data" / "icons" / "license.txt", icons)
    files = sorted((ROOT / "data" / "icons" / "rotajax").glob("*.svg"))
    for file in files[:: len(files) // 3][:3]:
        shutil.copy(file, icons / "rotajax")
    (icons / "rotajax" / "disc.svg").write_text(DISC)
    paths = [str(file.relative_to(icons)) for file in icons.rglob("*.svg")]
    first = {seed: min(paths, key=lambda path: sha256(f"{seed} {path}".encode()).digest()) for seed in range(1, 99)}
    seed = next(seed for seed, path in first.items() if path.endswith("disc.svg"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        build_suite(icons, root / "whole", suite_id="some", seed=seed, workers=2)
    return Built(icons, root / "whole", seed, root / "cache")
