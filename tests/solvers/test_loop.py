"""The loop on the tiny suite: rules, records, going on, and what is kept apart."""

import asyncio
import json
from collections import Counter

import numpy as np
import pytest

import rotajax as rx
from rotajax.env.actions import ACTIONS, STOP
from rotajax.records import OUTCOMES, read_run
from rotajax.solvers import CONDITIONS, InfrastructureError, Reply, Stopped
from rotajax.solvers.loop import run_solver
from rotajax.solvers.pixels import KNOWS, pixel_solver
from rotajax.solvers.tally import describe
from solving import draw, drawn_by_lot, pixels

QUIET = {"name": "s", "concurrency": 3, "progress": False, "say": lambda line: None}
FILES = ("episodes.jsonl", "summary.json")


@pytest.fixture(scope="module")
def undisturbed(tiny, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "undisturbed"
    run_solver(tiny, drawn_by_lot, out, **QUIET)
    return out


def same(one, other):
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in FILES)


class Asked:
    """A solver that counts its answers, and behaves otherwise where `trouble(question)` raises or returns a reply."""

    def __init__(self, trouble=lambda question: None):
        self.answered, self.trouble = Counter(), trouble

    async def __call__(self, question):
        await asyncio.sleep(0)
        reply = self.trouble(question) or await drawn_by_lot(question)
        self.answered[question.episode, question.turn] += 1
        return reply


def test_numbers_and_pictures_are_the_exact_renderers_bit_for_bit(undisturbed, tiny):
    run = read_run(undisturbed)
    assert run.tasks == tuple(tiny.ids)
    lines = [json.loads(raw) for raw in (undisturbed / "episodes.jsonl").read_text().splitlines()]
    decisions = [line for line in lines if line["kind"] == "decision"]
    for line in decisions:
        task = tiny[tiny.ids.index(line["task"])]
        target, view, current = draw(task.solid, np.reshape(line["rotation"], (3, 3)).astype(np.float32))
        iou = np.float32((target & current).sum()) / np.float32((target | current).sum())
        assert np.float32(line["iou_before"]) == iou
        shown = pixels((undisturbed / "panels" / f"{line['panel']}.png").read_bytes())
        assert (shown == np.asarray(rx.panel(target, view, current))[:, :, None]).all()
    assert {path.stem for path in (undisturbed / "panels").iterdir()} == {line["panel"] for line in decisions}


def test_episodes_end_by_the_rules_and_follow_from_their_actions(undisturbed, tiny_folder):
    run = rx.analysis.load(undisturbed, tiny_folder).run  # poses and errors are those that the actions lead to
    for row in range(len(run.episodes)):
        mine = np.flatnonzero(run.decisions.episode == row)
        after = run.decisions.iou_after[mine]
        best, stale = run.decisions.iou_before[mine[0]], 0
        for t, iou in enumerate(after):
            best, stale = (iou, 0) if iou > best else (best, stale + 1)
            ended = (
                "success" if iou >= np.float32(0.9) else "limit" if t == 47 else "stagnation" if stale == 12 else None
            )
            assert (ended is not None) == (t == len(after) - 1)
        assert OUTCOMES[run.episodes.outcome[row]] == ended


def test_episodes_in_flight_change_nothing(undisturbed, tiny, tmp_path):
    run_solver(tiny, drawn_by_lot, tmp_path / "two", **QUIET | {"concurrency": 2})
    assert same(tmp_path / "two", undisturbed)


def test_a_finished_run_asks_nothing_again(undisturbed, tiny):
    before = (undisturbed / "episodes.jsonl").read_bytes()
    asked = Asked()
    run_solver(tiny, asked, undisturbed, **QUIET)
    assert not asked.answered
    assert (undisturbed / "episodes.jsonl").read_bytes() == before


@pytest.mark.parametrize("history", [True, False])
def test_a_broken_run_goes_on_at_the_exact_decision(undisturbed, tiny, tmp_path, history):
    condition = CONDITIONS["full" if history else "no_history"]
    options = QUIET | {"condition": condition}
    left = iter(range(17))

    def crash(question):
        if next(left, None) is None:
            raise RuntimeError("a bug")

    first, second = Asked(crash), Asked()
    with pytest.raises(RuntimeError, match="a bug"):
        run_solver(tiny, first, tmp_path / "run", **options)
    run_solver(tiny, second, tmp_path / "run", **options)
    recorded = sum((first.answered + second.answered).values())
    decisions = len(read_run(tmp_path / "run").decisions)
    # Up to two others were answered when the bug came, and not yet drawn.
    assert decisions <= recorded <= decisions + 2
    assert len(set(first.answered) & set(second.answered)) <= 2
    if history:
        assert same(tmp_path / "run", undisturbed)


def test_a_decision_whose_episode_line_was_lost_and_torn_lines(undisturbed, tiny, tmp_path):
    out = tmp_path / "run"
    run_solver(tiny, drawn_by_lot, out, **QUIET)
    whole = (out / "episodes.jsonl").read_bytes()
    cut = whole[: whole.rindex(b'{"kind":"episode"') + 40]
    (out / "episodes.jsonl").write_bytes(cut)
    (out / "answers.jsonl").write_bytes(b'{"task":"single_000')
    asked, notes = Asked(), []
    run_solver(tiny, asked, out, **QUIET | {"say": notes.append})
    assert not asked.answered
    assert "torn" in notes[0]
    assert same(out, undisturbed)
    assert (out / "answers.jsonl").read_bytes() == b""


def test_lost_and_damaged_panels_are_drawn_again(undisturbed, tiny, tmp_path):
    out, seen = tmp_path / "run", []

    def crash(question):
        if question.turn == 4:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        run_solver(tiny, Asked(crash), out, **QUIET)
    for number, path in enumerate(sorted((out / "panels").iterdir())):
        path.unlink() if number % 2 else path.write_bytes(path.read_bytes()[:-7])

    def look(question):
        seen.append([(turn.panel.sha256, turn.panel.png) for turn in question.history])

    run_solver(tiny, Asked(look), out, **QUIET)
    assert same(out, undisturbed)
    for path in (out / "panels").iterdir():
        assert path.read_bytes() == (undisturbed / "panels" / path.name).read_bytes()
    assert all((undisturbed / "panels" / f"{sha}.png").read_bytes() == png for past in seen for sha, png in past)


def test_failures_that_are_not_the_solvers_are_excluded_and_asked_again(undisturbed, tiny, tmp_path):
    first = []

    def fail(question):
        first.append(question.episode)
        if question.episode == first[0] and question.turn == 2:
            raise InfrastructureError("timeout", "nobody answered")

    summary = run_solver(tiny, Asked(fail), tmp_path / "run", **QUIET)
    told = summary["solver"]
    assert told["episodes"] == {"asked": 3, "ended": 2, "excluded": 1, "left": 0}
    assert told["excluded_kinds"] == {"timeout": 1}
    assert summary["rows"][0]["episodes"] == 2
    assert "excluded: 1 episodes, infrastructure failures (1 timeout)" in describe(summary)
    failure = json.loads((tmp_path / "run" / "failures.jsonl").read_text())
    assert (failure["t"], failure["failure"], failure["detail"]) == (2, "timeout", "nobody answered")
    again = Asked()
    summary = run_solver(tiny, again, tmp_path / "run", **QUIET)
    assert summary["solver"]["episodes"] == {"asked": 3, "ended": 3, "excluded": 0, "left": 0}
    assert {episode for episode, _ in again.answered} == {first[0]}
    assert min(turn for _, turn in again.answered) == 2
    assert same(tmp_path / "run", undisturbed)


def test_a_stop_ends_the_run_and_not_what_was_asked(undisturbed, tiny, tmp_path):
    def stop(question):
        if question.turn == 3:
            raise Stopped("the quota is exhausted")

    summary = run_solver(tiny, Asked(stop), tmp_path / "run", **QUIET)
    assert summary["solver"]["stopped"] == "the quota is exhausted"
    assert summary["solver"]["episodes"]["left"] == 3
    assert summary["rows"] == []
    run_solver(tiny, Asked(), tmp_path / "run", **QUIET)
    assert same(tmp_path / "run", undisturbed)


def test_an_endpoint_that_is_down_stops_the_run(tiny, tmp_path):
    def fail(question):
        raise InfrastructureError("unreachable")

    summary = run_solver(tiny, Asked(fail), tmp_path / "run", **QUIET | {"concurrency": 1})
    assert summary["solver"]["stopped"] == "2 failures in a row that are not the solver's"
    assert summary["solver"]["episodes"] == {"asked": 3, "ended": 0, "excluded": 2, "left": 1}


def test_a_solver_without_a_legal_answer_ends_its_episode_as_an_error_that_counts(tiny, tmp_path):
    def fail(question):
        if question.turn == 1:
            return Reply(None, failure="no_object", fields={"codes": ["empty", "no_object"], "retries": 1})
        return Reply(STOP - 1, fields={"codes": ["refused"], "retries": 1})

    summary = run_solver(tiny, Asked(fail), tmp_path / "run", **QUIET)
    told, row = summary["solver"], summary["rows"][0]
    assert (row["episodes"], row["success_pct"]) == (3, 0)
    assert told["outcomes"] == {"error": 3}
    assert told["failed"] == {"decisions": 3, "no_object": 3}
    assert told["malformed"] == {"answers": 9, "refused": 3, "empty": 3, "no_object": 3}
    assert (told["refused"], told["truncated"], told["retries"]["within_2_pct"]) == (3, 0, 100.0)
    rx.analysis.summary_row(rx.analysis.attach(read_run(tmp_path / "run"), groups(tiny)).methods[0])


def test_a_solver_says_what_it_knows(tiny, tmp_path):
    solver = pixel_solver()
    assert solver.asked["knows"] == KNOWS

    async def stop(question):
        return Reply(STOP)

    stop.asked = solver.asked
    summary = run_solver(tiny, stop, tmp_path / "run", **QUIET)
    assert summary["solver"]["knows"] == KNOWS
    assert f"knows, beyond the pictures: {KNOWS}" in describe(summary)
    asyncio.run(solver.aclose())


def groups(suite):
    return dict(zip(suite.ids, np.asarray(suite.tasks.group), strict=True))


@pytest.mark.parametrize("name", ["no_history", "neither"])
def test_a_question_has_what_its_condition_says_and_nothing_else(tiny, tmp_path, name):
    seen = []

    def look(question):
        seen.append(question)
        return Reply(STOP) if question.turn == 2 else None

    run_solver(tiny, Asked(look), tmp_path / "run", **QUIET | {"condition": CONDITIONS[name]})
    assert {question.turn for question in seen} == {0, 1, 2}
    for question in seen:
        assert question.history == ()
        assert question.condition.name == name
        assert (question.view is None) == (name == "neither")
        assert pixels(question.panel).shape == (320, 972 if name == "no_history" else 646, 3)


def test_mistakes_are_named(tiny, tmp_path, undisturbed):
    with pytest.raises(ValueError, match=r"belongs to another run: condition: expected \"full\", got \"neither\""):
        run_solver(tiny, drawn_by_lot, undisturbed, **QUIET | {"condition": CONDITIONS["neither"]})
    with pytest.raises(ValueError, match="episodes in flight: expected a whole number of at least 1, got 0"):
        run_solver(tiny, drawn_by_lot, tmp_path / "a", **QUIET | {"concurrency": 0})

    async def wrong(question):
        return ACTIONS[3]

    with pytest.raises(ValueError, match="solver: answer: expected a Reply, got Action"):
        run_solver(tiny, wrong, tmp_path / "b", **QUIET)
    with pytest.raises(ValueError, match="reply: fields: expected JSON values"):
        Reply(3, fields={"x": float("nan")})
    with pytest.raises(ValueError, match="reply: action: expected an index from 0 to 24, got 25"):
        Reply(25)
