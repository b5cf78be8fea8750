"""`require_no_test_icons`: no icon of the test split is ever trained on."""

from rotajax.checks import require
from rotajax.tasks.manifest import read_manifest
from rotajax.tasks.suite import SuiteInfo

TEST_SPLIT = "rota674-test"
# How many of the shared icons the message names.
NAMED = 3


def forbidden_icons() -> frozenset[str]:
    """Return the sha256 of every icon of the test split."""
    return frozenset(row["icon"]["sha256"] for row in read_manifest(TEST_SPLIT)["tasks"])


def require_no_test_icons(info: SuiteInfo) -> None:
    """Raise ValueError, with some of their names, where a suite has icons of the test split (compared by sha256)."""
    forbidden = forbidden_icons()
    shared = [row["icon"]["path"] for row in info.rows if row["icon"]["sha256"] in forbidden]
    some = ", ".join(shared[:NAMED]) + (f" and {len(shared) - NAMED} more" if len(shared) > NAMED else "")
    require(not shared, f"train: suite {info.id}", f"no icon of the test split {TEST_SPLIT}", some)
