import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rotajax.tasks.select import hamilton, rank, select_test

# Table 7 of the paper: reference rotations, all tasks, test tasks.
TABLE_7 = {
    4: (53, 8),
    5: (122, 19),
    6: (181, 28),
    7: (124, 19),
    8: (69, 11),
    9: (38, 6),
    10: (21, 3),
    11: (9, 1),
    12: (10, 2),
    13: (5, 1),
    14: (5, 1),
    15: (1, 0),
    16: (4, 1),
}
TARGETS = Path(__file__).parents[3] / "shared" / "targets" / "rota_paper.json"
ALL, TEST = ({length: pair[k] for length, pair in TABLE_7.items()} for k in (0, 1))
LENGTHS = {f"single_{n:05d}": 3 for n in range(32)}
for _length, _count in ALL.items():
    LENGTHS |= {f"single_{len(LENGTHS) + k:05d}": _length for k in range(_count)}


def test_hamilton_gives_table_7():
    assert sum(ALL.values()) == 642
    assert hamilton(ALL, 100) == TEST


def test_table_7_is_the_targets_file_s():
    if not TARGETS.exists():
        pytest.skip(f"no targets at {TARGETS}")
    table = json.loads(TARGETS.read_text())["table7"]
    keys, *columns = (table[name] for name in ("reference_rotations", "all_tasks", "test_tasks"))
    assert dict(zip(keys[1:], zip(*(c[1:] for c in columns), strict=True), strict=True)) == TABLE_7
    assert (columns[0][0], columns[1][0]) == (sum(v < 4 for v in LENGTHS.values()), 0)


def test_the_split_of_the_paper_s_lengths_has_the_paper_s_counts():
    chosen = select_test(LENGTHS, 0)
    assert len(chosen) == len(set(chosen)) == 100
    assert chosen == sorted(chosen)
    counts = {length: sum(LENGTHS[task] == length for task in chosen) for length in ALL}
    assert counts == TEST
    assert min(LENGTHS[task] for task in chosen) == 4


def test_within_a_length_the_lowest_hashes_are_taken():
    chosen = set(select_test(LENGTHS, 7))
    for length, count in TEST.items():
        members = [task for task, n in LENGTHS.items() if n == length]
        members.sort(key=lambda task: hashlib.sha256(f"7:{task}".encode()).hexdigest())
        assert {task for task in members if task in chosen} == set(members[:count])


def test_the_choice_is_of_the_tasks_and_the_seed_and_of_nothing_else():
    backwards = dict(reversed(LENGTHS.items()))
    assert select_test(backwards, 0) == select_test(LENGTHS, 0)
    assert len(set(select_test(LENGTHS, 0)) & set(select_test(LENGTHS, 1))) < 60
    # Written down: a published split was drawn so.
    assert [rank(0, task).hex()[:4] for task in "abc"] == ["9df3", "e021", "be08"]
    assert select_test({"a": 4, "b": 4, "c": 4, "d": 9}, 0, places=2) == ["a", "c"]


def test_equal_remainders_go_to_the_smaller_length():
    assert hamilton({5: 1, 4: 1, 6: 1, 7: 1}, 2) == {4: 1, 5: 1, 6: 0, 7: 0}
    assert hamilton({4: 5, 8: 5}, 1) == {4: 1, 8: 0}
    assert hamilton({4: 3, 5: 3, 6: 4}, 5) == {4: 2, 5: 1, 6: 2}


@given(st.dictionaries(st.integers(4, 20), st.integers(1, 300), min_size=1), st.data())
def test_places_are_all_given_out_and_each_within_one_of_its_quota(counts, data):
    total = sum(counts.values())
    places = data.draw(st.integers(1, total))
    given_out = hamilton(counts, places)
    assert sum(given_out.values()) == places
    for length, count in counts.items():
        quota = count * places / total
        assert quota - 1 < given_out[length] < quota + 1
        assert 0 <= given_out[length] <= count


@pytest.mark.parametrize("places", [0, -1, 4])
def test_more_places_than_tasks_or_none_are_refused(places):
    message = rf"^select: places: expected 1 to 3, the number of eligible tasks, got {places}$"
    with pytest.raises(ValueError, match=message):
        select_test({"a": 4, "b": 5, "c": 6, "short": 3}, 0, places=places)


def test_no_eligible_task_is_refused_by_name():
    with pytest.raises(ValueError, match="select: eligible tasks: expected at least 1, got 0"):
        select_test({"a": 3, "b": 2}, 0)
    with pytest.raises(ValueError, match="select: eligible tasks"):
        select_test({}, 0)


def test_another_least_length():
    assert select_test({"a": 2, "b": 3, "c": 9}, 0, places=2, shortest=3) == ["b", "c"]
