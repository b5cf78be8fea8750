"""Kill `rotajax eval` with -9 again and again while the endpoint misbehaves, and hold what is left against a quiet run.

python tests/chaos.py --suite DIR --tasks 100 --kills 10 --out /tmp/chaos     prints what happened as JSON
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from rotajax.solvers.api import has_tokens
from rotajax.solvers.fake.asked import chain
from rotajax.solvers.fake.faults import ALL, SERVER, Faults
from rotajax.solvers.fake.log import AnswerLog, read_log
from rotajax.solvers.fake.players import make_player
from rotajax.solvers.fake.server import make_app
from rotajax.solvers.parse import Answer, read_answer

ROTAJAX = (sys.executable, "-m", "rotajax")
# Faults after which the client has no answer; a slow one has come.
LOST = set(SERVER) - {"slow"} | {"quota"}
# What a decision is, whatever was asked for in vain before it.
SAME = ("task", "t", "action", "angle", "iou_before", "iou_after", "pose_error_after", "rotation", "panel", "cot")


@contextmanager
def endpoint(player, faults=None, log=None):
    """The base address of a local endpoint that is served by a thread."""
    loop = asyncio.new_event_loop()

    async def begin():
        runner = web.AppRunner(make_app(player, faults=faults, log=log), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    def run(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        runner = run(begin())
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            run(runner.cleanup())
            run(loop.shutdown_default_executor())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def start(base, suite, tasks, out, in_flight):
    """An eval that is running, its output beside its folder."""
    words = ["--solver", "api", "--model", "fake", "--base-url", base, "--suite", suite, "--limit", tasks]
    words += ["--in-flight", in_flight, "--out", out]
    with open(f"{out}.log", "a") as log:
        return subprocess.Popen([*ROTAJAX, "eval", *map(str, words)], stdout=log, stderr=log, start_new_session=True)


def finish(base, suite, tasks, out, in_flight, tries=5):
    """Run until all episodes have ended; some may need another run, where the endpoint failed three times in a row."""
    for count in range(1, tries + 1):
        status = start(base, suite, tasks, out, in_flight).wait()
        if status == 0:
            return count
        assert status == 3, Path(f"{out}.log").read_text()[-2000:]
    raise AssertionError(f"episodes are left after {tries} runs: {Path(f'{out}.log').read_text()[-2000:]}")


def lines(path):
    """The whole lines of a file that may be being written."""
    text = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]


def answered(out):
    """The decisions whose legal answer is on the disk, as (task, t)."""
    found = set()
    for line in lines(out / "answers.jsonl"):
        read = read_answer(line["text"], finish_reason=line["finish_reason"], refusal=line["refusal"])
        if isinstance(read, Answer):
            found.add((line["task"], line["t"]))
    return found


def chaos(suite, tasks, kills, out, *, in_flight=16, rate=0.2, seed=0, play="random"):
    """Play twice, undisturbed and with faults and kills, and return what happened. Raises AssertionError."""
    out.mkdir(parents=True, exist_ok=True)  # a quiet run that is there already goes on, and is at its end at once
    draw = random.Random(seed)
    player = make_player(play, suite=str(suite), seed=seed)
    with endpoint(player) as base:
        finish(base, suite, tasks, out / "quiet", in_flight)
    quiet = [line for line in lines(out / "quiet" / "episodes.jsonl") if line["kind"] == "decision"]
    log = out / "asked.jsonl"
    # Every request is a line of the log, so that all moments come before the end.
    moments = sorted(draw.sample(range(2, max(len(quiet) * 9 // 10, kills + 2)), kills))
    killed = []  # (lines of the log, decisions whose answer was on the disk)
    run = out / "killed"
    began = time.monotonic()
    with endpoint(player, Faults(ALL, rate, seed), AnswerLog(log)) as base:
        for moment in moments:
            process = start(base, suite, tasks, run, in_flight)
            earlier = len(killed) and killed[-1][0]
            # At least something of its own, else it is killed before it asks.
            while not log.exists() or log.read_bytes().count(b"\n") < max(moment, earlier + 2):
                assert process.poll() is None, Path(f"{run}.log").read_text()[-2000:]
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.1))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            killed.append((len(read_log(log)), answered(run)))
        runs = finish(base, suite, tasks, run, in_flight)
    seconds = time.monotonic() - began
    return check(out, read_log(log), killed, in_flight) | {"last runs": runs, "seconds": round(seconds, 1)}


def check(out, log, killed, in_flight):
    """Hold the two runs against each other, and what was asked against what was on the disk; return the counts."""
    records = {name: lines(out / name / "episodes.jsonl") for name in ("quiet", "killed")}
    decisions = {name: [r for r in found if r["kind"] == "decision"] for name, found in records.items()}
    for name, found in decisions.items():
        keys = Counter((line["task"], line["t"]) for line in found)
        assert max(keys.values()) == 1, f"{name}: a decision is there twice"
        ends = [line["task"] for line in records[name] if line["kind"] == "episode"]
        assert len(set(ends)) == len(ends)
        longest = Counter(line["task"] for line in found)
        assert set(keys) == {(task, t) for task in ends for t in range(longest[task])}, f"{name}: a decision is missing"
    pick = [[tuple(map(str, map(line.get, SAME))) for line in found] for found in decisions.values()]
    assert sorted(pick[0]) == sorted(pick[1]), "the decisions differ"
    rows = [json.loads((out / name / "summary.json").read_text())["rows"] for name in records]
    assert rows[0] == rows[1], "the tables differ"
    # A decision's request is known by the panels up to it.
    panels = {(line["task"], line["t"]): line["panel"] for line in decisions["killed"]}
    chains = {(task, t): chain([panels[task, i] for i in range(t + 1)]) for task, t in panels}
    assert len(set(chains.values())) == len(chains)
    twice = [
        (number, key)
        for number, (seen, disk) in enumerate(killed)
        for key in disk
        if chains[key] in {line["chain"] for line in log[seen:]}
    ]
    assert twice == [], "asked again although its answer was on the disk"
    known = set(chains.values())
    delivered = sum(line["chain"] in known and line["fault"] not in LOST for line in log)
    answers = lines(out / "killed" / "answers.jsonl")
    kept = len(answers)
    # Malformed answers that a kill left on the disk are counted by the run that goes on, and are not asked for again.
    known_answers = Counter((line["task"], line["t"]) for line in answers if has_tokens(line))
    counted = {(line["task"], line["t"]): line["retries"] + 1 for line in decisions["killed"]}
    assert known_answers == counted, "answers on the disk were not counted"
    # The answers that a killed process was waiting for, or had not written yet.
    assert 0 <= delivered - kept <= in_flight * len(killed)
    asked = [line for line in log if line["chain"] in known]
    return {
        "episodes": len(records["killed"]) - len(decisions["killed"]),
        "decisions": len(decisions["killed"]),
        "requests": len(asked),
        "faults": dict(Counter(line["fault"] for line in asked if line["fault"])),
        "on the disk when killed": [len(disk) for _, disk in killed],
        "answers lost to kills": delivered - kept,
        "success %": rows[0][0]["success_pct"],
        "steps": rows[0][0]["steps"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="mini")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--play", default="random")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    options = {"in_flight": args.in_flight, "rate": args.rate, "seed": args.seed, "play": args.play}
    print(json.dumps(chaos(args.suite, args.tasks, args.kills, args.out, **options), indent=1))


if __name__ == "__main__":
    main()
