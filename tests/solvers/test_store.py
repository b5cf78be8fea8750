import asyncio
import json

import pytest

from rotajax.records import EpisodeKey
from rotajax.solvers.question import Panel
from rotajax.solvers.store import Store
from runs import ASKED, decisions

KEY = EpisodeKey("a", "p", 0)


def opened(path):
    return Store(path, ASKED, device="none")


def lines(count):
    start = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]
    return decisions("a", 0, start, [("YAW_POS", 1)] * count, [0.5] * (count + 1))[0]


def test_answers_are_on_the_disk_when_add_returns_and_come_back_for_their_decision_only(tmp_path):
    async def play(store):
        await store.journal(KEY, 0).add({"text": "first", "cost": 2.0})
        assert json.loads((tmp_path / "run" / "answers.jsonl").read_text())["text"] == "first"
        await store.add(lines(1))
        journal = store.journal(KEY, 1)
        await asyncio.gather(*(journal.add({"text": f"{n} \ud800", "cost": 0.5}) for n in range(5)))
        assert len(journal.added) == 5

    with opened(tmp_path / "run") as store:
        asyncio.run(play(store))
    with opened(tmp_path / "run") as store:
        assert list(store.unfinished) == [KEY]
        assert [answer["text"] for answer in store.journal(KEY, 1).earlier] == [f"{n} ?" for n in range(5)]
        assert store.journal(KEY, 1).earlier == ()  # once
        assert (store.spent, store.dearest) == (4.5, 2.0)


def test_what_comes_together_is_written_together(tmp_path, monkeypatch):
    groups = []

    async def play(store):
        write = store._write
        monkeypatch.setattr(store, "_write", lambda group: (groups.append(len(group)), write(group)))
        journals = [store.journal(EpisodeKey(f"t{n}", "p", 0), 0) for n in range(40)]
        await asyncio.gather(*(journal.add({"text": str(n)}) for n, journal in enumerate(journals)))

    with opened(tmp_path / "run") as store:
        asyncio.run(play(store))
    assert sum(groups) == 40
    assert len(groups) <= 2


def test_a_failed_write_is_everybodys_failure_and_leaves_nothing_behind(tmp_path, monkeypatch):
    async def play(store):
        await store.add(lines(1))

        def full(handle, data):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.write", full)
        both = await asyncio.gather(store.add(lines(2)[1:]), store.journal(KEY, 1).add({}), return_exceptions=True)
        assert [type(error) for error in both] == [OSError, OSError]

    with opened(tmp_path / "run") as store:
        asyncio.run(play(store))
    assert len((tmp_path / "run" / "episodes.jsonl").read_text().splitlines()) == 1


def test_panels_are_stored_once(tmp_path):
    with opened(tmp_path / "run") as store:
        panel = Panel(b"png", "d5e3ffc4f2a1b0c9")
        store.put_panel(panel)
        kept = (tmp_path / "run" / "panels" / "d5e3ffc4f2a1b0c9.png").stat()
        store.put_panel(panel)
        assert (tmp_path / "run" / "panels" / "d5e3ffc4f2a1b0c9.png").stat().st_mtime_ns == kept.st_mtime_ns
        with pytest.raises(ValueError, match="sha256: expected d5e3ffc4f2a1b0c9, got"):
            store.get_panel("d5e3ffc4f2a1b0c9")
        with pytest.raises(ValueError, match="expected a file, got nothing"):
            store.get_panel("0" * 64)


def test_a_folder_that_is_written_is_refused(tmp_path):
    with opened(tmp_path / "run"), pytest.raises(ValueError, match="expected a folder that nobody writes"):
        opened(tmp_path / "run")
    with opened(tmp_path / "run"):
        pass


@pytest.mark.parametrize("damage", [b"nonsense\n", b'{"task":"a"}\n', b'["a"]\n'])
def test_damaged_answers_are_named(tmp_path, damage):
    with opened(tmp_path / "run"):
        pass
    (tmp_path / "run" / "answers.jsonl").write_bytes(damage)
    with pytest.raises(ValueError, match=r"answers.jsonl' line 1: expected an answer in JSON"):
        opened(tmp_path / "run")
