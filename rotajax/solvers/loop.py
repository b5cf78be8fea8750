"""`run_solver`: a solver on a suite, many episodes at once, into a run folder that a kill cannot hurt."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from rotajax.analysis import attach
from rotajax.checks import require, require_at_least
from rotajax.env.state import Params
from rotajax.files import write_atomically
from rotajax.records import LAST_SEED, EpisodeKey, read_run
from rotajax.records.asked import device_names, rule_numbers, suite_identity
from rotajax.reports.curve import draw_curves
from rotajax.solvers.episode import Table, play_episode
from rotajax.solvers.question import CONDITIONS, Condition
from rotajax.solvers.reply import InfrastructureError, Solver, Stopped
from rotajax.solvers.simulate import Simulator
from rotajax.solvers.store import Store
from rotajax.solvers.tally import summarise_solver
from rotajax.tasks.suite import Suite


def run_solver(
    suite: Suite,
    solver: Solver,
    out: str | Path,
    *,
    name: str,
    condition: Condition = CONDITIONS["full"],
    concurrency: int = 16,
    limit: int | None = None,
    seed: int = 0,
    params: Params | None = None,
    progress: bool = True,
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> dict:
    """Play a solver into a run folder and return its summary; a folder of the same request goes on where it was.

    name: what the run's records and tables call the solver; concurrency: episodes in flight; limit: the first tasks
    only. The summary is that of the baselines with a part "solver": what was answered, what failed, what is left to
    play and why (`tally`). Writes run.json, episodes.jsonl, answers.jsonl, preflight.jsonl, failures.jsonl, panels/,
    summary.json and iou_steps.png. Raises ValueError for a folder of another run, and what the solver raises: it is
    resumable then too.
    """
    require_at_least(concurrency, 1, "solvers: episodes in flight")
    require(0 <= seed <= LAST_SEED, "solvers: seed", f"0 to {LAST_SEED}", seed)
    require(bool(name), "solvers: name", "a name", repr(name))
    suite, params, out = suite if limit is None else _first(suite, limit), params or Params(), Path(out)
    asked = {
        "kind": "solver",
        "suite": suite_identity(suite),
        "policies": [name],
        "seeds": [seed],
        "tasks": len(suite),
        "params": rule_numbers(params),
        "condition": condition.name,
        "solver": getattr(solver, "asked", {}),
    }
    with Store(out, asked, device=device_names()) as store:
        for note in store.notes:
            say(note)
        keys = [(row, EpisodeKey(task, name, seed)) for row, task in enumerate(suite.ids)]
        left = [(row, key) for row, key in keys if key not in store.done]
        stopped = None
        if left:
            if budget := getattr(solver, "budget", None):
                budget.spent, budget.dearest = store.spent, store.dearest
            rows = [row for row, _ in left]
            simulator = Simulator(suite, params, rows=rows, most=concurrency, auxiliary=condition.auxiliary)
            with ThreadPoolExecutor(2, "panels") as threads:
                table = Table(solver, condition, simulator, store, threads, suite.info.sha256)
                try:
                    _run(_play(table, left, len(keys), concurrency, progress, say))
                finally:
                    simulator.close()
            stopped = table.stopped
        store.arrange(suite.ids)
    return _report(suite, out, stopped)


def _first(suite: Suite, limit: int) -> Suite:
    require_at_least(limit, 1, "solvers: limit")
    info = dataclasses.replace(suite.info, rows=suite.info.rows[:limit])
    return Suite(tasks=jax.tree.map(lambda leaf: leaf[:limit], suite.tasks), info=info)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1, "solvers") as thread:
        thread.submit(asyncio.run, work).result()


async def _play(
    table: Table,
    left: list[tuple[int, EpisodeKey]],
    total: int,
    concurrency: int,
    progress: bool,
    say: Callable[[str], None],
) -> None:
    """Play what is left; of several failures the first one is raised, and every other episode stays as it is."""
    try:
        if prepare := getattr(table.solver, "prepare", None):
            try:
                for line in await prepare(table.store.preflight()):
                    say(line)
            except (Stopped, InfrastructureError) as error:  # nothing is wrong with the command: it goes on later
                table.stopped = f"first call: {error}"
                return
        waiting = iter(left)
        shape = "{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}, {elapsed}, about {remaining} left{postfix}"
        often = 0.5 if sys.stderr.isatty() else 10.0
        options = {"bar_format": shape, "file": sys.stderr, "disable": not progress, "mininterval": often}
        with tqdm(total=total, initial=total - len(left), desc=left[0][1].policy, **options) as bar:

            async def play() -> None:
                for row, key in waiting:
                    if table.stopped:
                        return
                    if await play_episode(table, row, key):
                        bar.update(1)
                    counts = ", ".join(f"{number} {what}" for what, number in sorted(table.count.items()))
                    bar.set_postfix_str(counts, refresh=False)
                    if table.outage >= 2 * concurrency:
                        table.stopped = table.stopped or f"{table.outage} failures in a row that are not the solver's"

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(left))):
                        group.create_task(play())
            except BaseExceptionGroup as failures:
                raise failures.exceptions[0] from None
    finally:
        if close := getattr(table.solver, "aclose", None):
            await close()


def _report(suite: Suite, out: Path, stopped: str | None) -> dict:
    """Write and return the summary of what has ended, from the records; draw its curve."""
    run = read_run(out)
    groups = dict(zip(suite.ids, np.asarray(suite.tasks.group), strict=True))
    summary = summarise_solver(run, suite_identity(suite), groups, stopped)
    write_atomically(out / "summary.json", json.dumps(summary, indent=1, allow_nan=False) + "\n")
    if len(run.episodes):
        title = f"Suite {suite.info.id}, {len(run.tasks)} tasks"
        draw_curves(attach(run, groups).methods, out / "iou_steps.png", title=title)
    return summary
