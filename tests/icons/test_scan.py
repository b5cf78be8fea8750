"""Scans: every file ends in a record, whatever it does to the process that draws it; same input, same bytes."""

import json
import os
import sys

import numpy as np
import pytest

from rotajax.icons import accepted_mask, read_scan, scan, write_scan
from rotajax.icons.pool import examine_all

DISC = b'<svg viewBox="0 0 512 512"><path d="M0 0h512v512H0z"/><circle cx="256" cy="256" r="200" fill="#fff"/></svg>'
TWO = b'<svg viewBox="0 0 9 9"><path fill="#fff" d="M1 1h3v7H1zM5 1h3v7H5z"/></svg>'
# A long path drawn 2,000 times: short enough for every bound on the text, and minutes to draw.
ENDLESS = (
    b'<svg viewBox="0 0 512 512"><defs><path id="a" stroke="#fff" d="M0 0'
    + b"L512 512L0 0" * 10_000
    + b'"/></defs>'
    + b'<use href="#a"/>' * 2000
    + b"</svg>"
)
# Sixty groups, each with a picture of its own.
HUNGRY = b'<svg viewBox="0 0 9 9">' + b'<g opacity=".9">' * 60 + b'<path d="M1 1h7v7z"/>' + b"</g>" * 60 + b"</svg>"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "in"
    for name in ("ann", "zed", "stray"):
        (root / name).mkdir(parents=True)
    (root / "license.txt").write_text("- Ann, http://example.org\n- Zed - CC0\n")
    (root / "ann" / "disc.svg").write_bytes(DISC)
    (root / "zed" / "DISC.SVG").write_bytes(DISC)
    (root / "stray" / "disc.svg").write_bytes(DISC)
    (root / "ann" / "two.svg").write_bytes(TWO)
    (root / "ann" / "nothing.svg").write_bytes(b"")
    (root / "ann" / "words.svg").write_bytes(b"hello")
    (root / "ann" / "black.svg").write_bytes(b'<svg viewBox="0 0 9 9"><path d="M1 1h4v4z"/></svg>')
    (root / "ann" / "folder.svg").mkdir()
    (root / "ann" / "gone.svg").symlink_to(root / "nowhere.svg")
    (root / "ann" / "large.svg").write_bytes(b" " * (1 << 21))
    (root / "ann" / "notes.txt").write_text("no icon")
    return root


EXPECTED = {
    "ann/black.svg": "empty",
    "ann/disc.svg": None,
    "ann/folder.svg": "not_a_file",
    "ann/gone.svg": "unreadable",
    "ann/large.svg": "too_many_bytes",
    "ann/nothing.svg": "no_content",
    "ann/two.svg": "component_ratio",
    "ann/words.svg": "not_xml",
    "stray/disc.svg": "licence",
    "zed/DISC.SVG": None,
}


def test_every_file_ends_in_a_record(folder, tmp_path):
    records = scan(folder, cache=tmp_path / "cache", progress=False)
    assert {record.path: record.reason for record in records} == EXPECTED
    assert [record.path for record in records] == sorted(EXPECTED)
    by_path = {record.path: record for record in records}
    disc, stray = by_path["zed/DISC.SVG"], by_path["stray/disc.svg"]
    assert (disc.author, disc.licence, disc.status, disc.message) == ("Zed", "CC0", "accepted", None)
    assert (stray.author, stray.licence, stray.status) == ("stray", "unlisted", "rejected")
    assert stray.circle_occupancy == disc.circle_occupancy  # measured although rejected
    assert stray.message == "icons.licence: expected a folder that license.txt lists, got 'stray'"
    assert "black on nothing" in by_path["ann/black.svg"].message
    assert by_path["ann/words.svg"].foreground is None
    assert by_path["ann/words.svg"].message.startswith("icons.svg: expected well-formed XML, got ")


def test_same_bytes_for_any_number_of_workers_and_any_cache(folder, tmp_path):
    cache = tmp_path / "cache"
    runs = [
        scan(folder, cache=cache, workers=1, progress=False),
        scan(folder, cache=cache, workers=2, progress=False),
        scan(folder, cache=False, workers=2, progress=False),
    ]
    written = [write_scan(records, tmp_path / f"{i}.json").read_bytes() for i, records in enumerate(runs)]
    assert written[0] == written[1] == written[2]
    assert read_scan(tmp_path / "0.json") == runs[0]
    document = json.loads(written[0])
    assert document["format"] == "rotajax.icons/1"
    assert document["rasteriser"].startswith("cairosvg ")
    keys = "path author licence sha256 status reason foreground component_ratio circle_occupancy box_occupancy aspect"
    assert set(keys.split()) <= set(document["icons"][0])


def test_damaged_cache_is_ignored(folder, tmp_path):
    cache = tmp_path / "cache"
    first = scan(folder, cache=cache, progress=False)
    entries = sorted(cache.rglob("*.json"))
    assert len(entries) == 5  # the three discs share one
    for entry, damage in zip(entries, (b"", b"[]", b"{", None, b"\xff"), strict=True):
        text = entry.read_bytes()
        entry.write_bytes(text.replace(b"null", b"0", 1) if damage is None else damage)
    assert scan(folder, cache=cache, progress=False) == first


def test_cache_is_used(folder, tmp_path, monkeypatch):
    first = scan(folder, cache=tmp_path / "cache", progress=False)

    def only_known(svgs, **options):
        assert list(svgs) == []
        return iter(())

    monkeypatch.setattr(sys.modules[scan.__module__], "examine_all", only_known)
    assert scan(folder, cache=tmp_path / "cache", progress=False) == first


def test_cache_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "cache").write_text("a file in its place")
    assert {record.path: record.reason for record in scan(folder, cache=tmp_path / "cache", progress=False)} == EXPECTED


def test_default_cache_respects_xdg(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    scan(folder, progress=False)
    assert list((tmp_path / "xdg" / "rotajax" / "icons").rglob("*.json"))


def test_unlisted_on_request(folder, tmp_path):
    records = scan(folder, cache=tmp_path / "cache", progress=False, allow_unlisted=True)
    stray = next(record for record in records if record.path == "stray/disc.svg")
    assert (stray.status, stray.licence) == ("accepted", "unlisted")


def test_accepted_mask(folder, tmp_path):
    cold = accepted_mask(folder / "ann" / "disc.svg", cache=tmp_path / "cache")
    warm = accepted_mask(folder / "ann" / "disc.svg", cache=tmp_path / "cache")
    rows, columns = np.ogrid[:512, :512]
    exact = (columns + 0.5 - 256) ** 2 + (rows + 0.5 - 256) ** 2 <= 200**2
    assert np.array_equal(cold, warm)
    assert np.count_nonzero(cold ^ exact) < 1500
    with pytest.raises(ValueError, match=r"expected an icon that passes the filters, got component_ratio: '.*two.svg'"):
        accepted_mask(folder / "ann" / "two.svg", cache=False)
    with pytest.raises(ValueError, match="expected a file, got a folder"):
        accepted_mask(folder / "ann" / "folder.svg", cache=False)


def test_progress_counts_every_file(folder):
    seen = []
    scan(folder, cache=False, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, len(EXPECTED)) for done in range(1, len(EXPECTED) + 1)]


def test_time_limit_rejects_one_file_and_not_the_run():
    jobs = [("endless", ENDLESS), *((i, DISC) for i in range(3))]
    found = {key: finding["error"] for key, finding, _ in examine_all(jobs, workers=1, seconds=1)}
    assert found == {"endless": "time", 0: None, 1: None, 2: None}


def test_memory_limit_rejects_one_file_and_not_the_run():
    jobs = [("hungry", HUNGRY), ("disc", DISC)]
    found = {key: finding["error"] for key, finding, _ in examine_all(jobs, workers=1, memory=48 << 20)}
    assert found == {"hungry": "memory", "disc": None}
    assert [finding["error"] for _, finding, _ in examine_all(jobs[:1], workers=1)] == [None]


def test_killed_process_is_replaced(monkeypatch):
    from rotajax.icons import pool

    killed = []
    give = pool._Worker.give

    def give_and_kill(worker, job):
        give(worker, job)
        if job[0] == "doomed" or (job[0] == "unlucky" and not killed.count("unlucky")):
            killed.append(job[0])
            worker.process.kill()

    monkeypatch.setattr(pool._Worker, "give", give_and_kill)
    jobs = [("doomed", ENDLESS), ("unlucky", TWO), ("fine", DISC)]
    found = {key: finding["error"] for key, finding, _ in examine_all(jobs, workers=2)}
    assert killed.count("doomed") == 2
    assert found["doomed"] == "crash"
    assert found["unlucky"] is None
    assert found["fine"] is None


def test_missing_folder_file_and_no_icons(folder, tmp_path):
    with pytest.raises(ValueError, match="icons scan: expected a folder, got nothing at"):
        scan(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="icons scan: expected a folder, got a file"):
        scan(folder / "license.txt")
    with pytest.raises(ValueError, match=r"expected a folder with .svg files, got none below"):
        scan(tmp_path / "in" / "ann" / "folder.svg")
    with pytest.raises(ValueError, match="workers: expected a whole number of at least 1, got 0"):
        scan(folder, workers=0)


def test_output_that_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="expected a file in an existing folder, got no folder"):
        write_scan([], tmp_path / "no" / "out.json")
    with pytest.raises(ValueError, match="expected a file, got a folder"):
        write_scan([], tmp_path)
    other = tmp_path / "other.json"
    other.write_text('{"mine": 1}')
    with pytest.raises(ValueError, match="expected a new file or an earlier scan, got another file"):
        write_scan([], other)
    assert other.read_text() == '{"mine": 1}'
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(ValueError, match="expected a file that can be written"):
            write_scan([], tmp_path / "out.json")


def test_read_scan_of_another_file(tmp_path):
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(ValueError, match=r"expected a file of the format 'rotajax.icons/1', got another file"):
        read_scan(tmp_path / "x.json")


def test_a_name_that_is_not_utf8_rejects_one_file_and_not_the_run(folder, tmp_path):
    before = scan(folder, workers=1, cache=tmp_path / "cache", progress=False)
    path = os.fsencode(folder) + b"/ann/bad\xff.svg"
    try:
        with open(path, "wb") as file:
            file.write(b"<svg/>")
    except OSError:
        pytest.skip("the file system takes no such name")
    records = scan(folder, workers=1, cache=tmp_path / "cache", progress=False)
    (bad,) = [record for record in records if record not in before]
    assert (bad.path, bad.status, bad.reason) == ("ann/bad\\xff.svg", "rejected", "name")
    assert read_scan(write_scan(records, tmp_path / "out.json")) == sorted(records, key=lambda record: record.path)
