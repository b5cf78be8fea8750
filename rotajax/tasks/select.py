"""The test split: places by Hamilton's largest remainder over path lengths, tasks by SHA-256 (Appendix I)."""

import hashlib
from collections import Counter
from collections.abc import Mapping

from rotajax.checks import require

SHORTEST = 4
PLACES = 100


def hamilton(counts: Mapping[int, int], places: int) -> dict[int, int]:
    """Return the places of each group: the whole part of its quota, then one each by descending remainder.

    Equal remainders go to the smaller group key first. Raises ValueError for more places than members, or none.

    >>> hamilton({4: 53, 5: 122, 6: 181}, 10)
    {4: 2, 5: 3, 6: 5}
    """
    total = sum(counts.values())
    require(total > 0, "select: eligible tasks", "at least 1", total)
    require(0 < places <= total, "select: places", f"1 to {total}, the number of eligible tasks", places)
    quota = {key: divmod(count * places, total) for key, count in counts.items()}
    left = places - sum(whole for whole, _ in quota.values())
    by_remainder = sorted(quota, key=lambda key: (-quota[key][1], key))
    return {key: quota[key][0] + (key in by_remainder[:left]) for key in sorted(counts)}


def select_test(lengths: Mapping[str, int], seed: int, *, places: int = PLACES, shortest: int = SHORTEST) -> list[str]:
    """Return the identifiers of the test tasks, sorted, from the reference lengths of all tasks by identifier.

    Tasks with at least `shortest` rotations are eligible; within a length the lowest SHA-256 of "seed:identifier".
    """
    eligible = {task: length for task, length in lengths.items() if length >= shortest}
    groups = hamilton(Counter(eligible.values()), places)
    chosen: list[str] = []
    for length, count in groups.items():
        members = [task for task, n in eligible.items() if n == length]
        chosen += sorted(members, key=lambda task: rank(seed, task))[:count]
    return sorted(chosen)


def rank(seed: int, task: str) -> bytes:
    """Return the hash that orders tasks within a group."""
    return hashlib.sha256(f"{seed}:{task}".encode()).digest()
