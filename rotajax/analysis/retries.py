"""`retries`: how many answers were needed for a legal action (Table 13)."""

from rotajax.analysis.fields import decision_field
from rotajax.checks import require
from rotajax.records import Run

WITHIN = (0, 2, 6)


def retries(run: Run) -> list[dict]:
    """Return a row a policy: its actions that say their `retries`, and the percentage within 0, 2 and 6 of them.

    Rotations and STOP count alike; null where no decision says, as for policies that give no answers. Raises
    ValueError for a number of retries that is none.
    """
    found: list[list[int]] = [[] for _ in run.policies]
    policy = run.episodes.policy[run.decisions.episode].tolist()
    for row, value in enumerate(decision_field(run, "retries")):
        if value is not None:
            whole = type(value) is int and value >= 0
            require(whole, f"run '{run.path}': retries", "whole numbers from 0", repr(value))
            found[policy[row]].append(value)
    return [_row(name, numbers) for name, numbers in zip(run.policies, found, strict=True)]


def _row(policy: str, numbers: list[int]) -> dict:
    row: dict = {"policy": policy, "actions": len(numbers), "most": max(numbers, default=None)}
    for most in WITHIN:
        within = sum(number <= most for number in numbers)
        row[f"within_{most}_pct"] = 100.0 * within / len(numbers) if numbers else None
    return row
