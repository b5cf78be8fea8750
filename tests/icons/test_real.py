"""The game-icons collection: known icons, and in the slow test the paper's counts (Appendix B)."""

import shutil
from collections import Counter

import pytest

from rotajax.icons import scan, write_scan

KNOWN = {
    "andymeneely/riposte.svg": None,
    "aussiesim/card-10-clubs.svg": None,
    "caro-asercion/bok-choy.svg": None,
    "darkzaitzev/cauldron.svg": None,
    "delapouite/pickle.svg": None,  # component ratio 0.0007 above the threshold
    "lorc/alligator-clip.svg": None,
    "lucasms/trousers.svg": None,
    "sparker/bear-face.svg": None,
    "viscious-speed/abstract-002.svg": None,
    "zeromancer/heart-plus.svg": None,
    "badges/anvil.svg": "licence",
    "carl-olsen/crossbow.svg": "component_ratio",
    "darkzaitzev/shuriken.svg": "circle_occupancy",
    "delapouite/person.svg": "aspect",
    "lorc/noodle-ball.svg": "component_ratio",  # 0.0009 below the threshold
    "skoll/dress.svg": "aspect",
}
CONTRIBUTORS = {
    *("Lorc", "Delapouite", "Aussiesim", "Viscious Speed", "Sbed", "Skoll", "DarkZaitzev", "Caro Asercion"),
    *("Cathelineau", "Lucas", "Andy Meneely", "Carl Olsen", "Zeromancer", "Guard13007", "John Redman", "SpencerDub"),
    *("Felbrigg", "Sparker", "Lord Berandas", "GeneralAce135", "Faithtoken"),
}


def test_known_icons(icons, tmp_path):
    root = tmp_path / "in"
    for path in ("license.txt", *KNOWN):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(icons / path, root / path)
    records = scan(root, cache=False, progress=False)
    assert {record.path: record.reason for record in records} == KNOWN
    by_path = {record.path: record for record in records}
    assert by_path["zeromancer/heart-plus.svg"].licence == "CC0"
    assert by_path["zeromancer/heart-plus.svg"].circle_occupancy == pytest.approx(0.5957, abs=0.002)
    assert by_path["zeromancer/heart-plus.svg"].foreground == pytest.approx(118_153, rel=0.002)
    assert by_path["delapouite/person.svg"].aspect == pytest.approx(2.34, abs=0.03)


@pytest.mark.slow
def test_the_papers_counts(icons, tmp_path):
    records = scan(icons, cache=tmp_path / "cache", progress=False)
    assert len(records) == 4229
    accepted = [record for record in records if record.status == "accepted"]
    # Another rasteriser version may move the count by 3; 2.9.1 gives the paper's own.
    assert {record.author for record in accepted} == CONTRIBUTORS
    assert len(accepted) == pytest.approx(674, abs=3)
    assert Counter(record.licence for record in accepted)["CC0"] == 33
    again = scan(icons, cache=tmp_path / "cache", progress=False)
    cold, warm = write_scan(records, tmp_path / "cold.json"), write_scan(again, tmp_path / "warm.json")
    assert cold.read_bytes() == warm.read_bytes()
