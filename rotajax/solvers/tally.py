"""`summarise_solver`: summary.json of a solver's run: the metrics, and beside them what went wrong and what it cost."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from rotajax.analysis.fields import decision_field, episode_field
from rotajax.analysis.retries import retries
from rotajax.analysis.summary import FORMAT, summarise
from rotajax.records import OUTCOMES, EpisodeKey, Run
from rotajax.records.lines import key_of
from rotajax.solvers.store import ANSWERS, FAILURES, PREFLIGHT
from rotajax.solvers.usage import NOTHING, Usage


def summarise_solver(run: Run, suite: dict, groups: Mapping[str, np.ndarray], stopped: str | None) -> dict:
    """Return summary.json of a solver's run, of the episodes that have ended.

    Its part "solver": `asked`, `ended`, `excluded` and `left` episodes, where excluded ones stand open after a failure
    that was not the solver's, by `kinds`; `decisions`, and `failed` ones by code, each of which ended its episode as an
    error that counts; `malformed` answers by code, of which `refused` and `truncated` ones also by themselves; the
    retries of Table 13; `answers`, and those of the `preflight` before them, with the tokens and the cost of both;
    `stopped`, why the run ended before its end; `knows`, what the
    solver says it knows beyond the pictures, None where it says nothing.
    """
    asked, ended = run.meta["asked"]["tasks"], len(run.episodes)
    rows = summarise(run, suite, groups)["rows"] if ended else []
    codes = Counter(_codes(run))
    failed = Counter(code for code in episode_field(run, "failure") if code)
    kinds = Counter(_open_failures(run))
    excluded = sum(kinds.values())
    preflight = list(_lines(run.path / PREFLIGHT))
    answers = list(_lines(run.path / ANSWERS))
    paid = [*preflight, *answers]
    usage = sum((Usage(**answer["usage"]) for answer in paid if answer.get("usage")), NOTHING)
    costs = [answer["cost"] for answer in paid if answer.get("cost") is not None]
    told = {
        "condition": run.meta["asked"]["condition"],
        "knows": run.meta["asked"]["solver"].get("knows"),
        "episodes": {"asked": asked, "ended": ended, "excluded": excluded, "left": asked - ended - excluded},
        "excluded_kinds": dict(kinds),
        "outcomes": dict(Counter(OUTCOMES[index] for index in run.episodes.outcome)),
        "decisions": len(run.decisions),
        "failed": {"decisions": sum(failed.values()), **failed},
        "malformed": {"answers": sum(codes.values()), **codes},
        "refused": codes["refused"],
        "truncated": codes["truncated"],
        "retries": retries(run)[0] if ended else None,
        "answers": len(answers),
        "preflight": len(preflight),
        "usage": usage.fields() if paid else None,
        "cost": sum(costs) if costs else None,
        "stopped": stopped,
    }
    return {"format": FORMAT, "suite": suite, "rows": rows, "solver": told}


def _codes(run: Run) -> Iterator[str]:
    for codes in (*decision_field(run, "codes"), *episode_field(run, "codes")):
        yield from codes or ()


def _open_failures(run: Run) -> Iterator[str]:
    """Yield the kind of the last failure of every episode that has one and has not ended."""
    tasks = {run.tasks[task] for task in run.episodes.task}
    last: dict[EpisodeKey, str] = {key_of(line): line["failure"] for line in _lines(run.path / FAILURES)}
    yield from (kind for key, kind in last.items() if key.task not in tasks)


def _lines(file: Path) -> Iterator[dict]:
    if file.exists():
        with file.open("rb") as lines:
            yield from (json.loads(raw) for raw in lines if raw.endswith(b"\n"))


def describe(summary: dict) -> str:
    """Return the counts of a summary as lines for the terminal."""
    told = summary["solver"]
    episodes = told["episodes"]
    n = f"n = {episodes['ended']} of {episodes['asked']} episodes ended"
    if summary["rows"]:
        row = summary["rows"][0]
        interval = row.get("success_pct_ci95")
        between = f" [{interval[0]:.1f}, {interval[1]:.1f}]" if interval else ""
        n += (
            f"; success {row['success_pct']:.1f} %{between}, final IoU {row['final_iou']:.3f}, steps {row['steps']:.2f}"
        )
    ways = ", ".join(f"{number} {name}" for name, number in told["outcomes"].items() if number)
    lines = [n + (f" ({ways})" if ways else "")]
    if told["knows"]:
        lines.append(f"the solver knows, beyond the pictures: {told['knows']}")
    lines.append(
        f"decisions {told['decisions']}; malformed answers {_by_code(told['malformed'], 'answers')}, refused "
        f"{told['refused']}, truncated {told['truncated']}; failed decisions {_by_code(told['failed'], 'decisions')}"
    )
    if told["usage"]:
        usage = told["usage"]
        tokens = f"{usage['prompt']:,} input ({usage['cached']:,} cached), {usage['completion']:,} output tokens"
        tokens = tokens if usage["known"] else f"tokens not told by the server for all ({tokens})"
        cost = "" if told["cost"] is None else f", cost {told['cost']:.4f}"
        first = f" and {told['preflight']} to a first call" if told["preflight"] else ""
        lines.append(f"answers {told['answers']}{first}: {tokens}{cost}")
    if episodes["excluded"]:
        kinds = ", ".join(f"{number} {kind}" for kind, number in told["excluded_kinds"].items())
        lines.append(f"excluded: {episodes['excluded']} episodes, infrastructure failures ({kinds})")
    return "\n".join(lines)


def _by_code(counts: dict, total: str) -> str:
    codes = ", ".join(f"{number} {code}" for code, number in counts.items() if code != total)
    return f"{counts[total]}" + (f" ({codes})" if codes else "")
