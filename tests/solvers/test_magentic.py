"""The manager and its solver against a real server with scripted answers; code runs in the real sandbox."""

import json

import pytest

from agents import ANSWER, LIMITS, best_layers, calls, make_question, python, solve, tool_messages
from endpoints import ok
from rotajax.env.actions import action_index
from rotajax.solvers.agents.magentic import RULES, Rules, magentic_solver
from rotajax.solvers.agents.tools import Workshop
from rotajax.solvers.question import Journal


@pytest.fixture(scope="session")
def layers():
    return best_layers()


@pytest.fixture
def workshop(layers):
    return Workshop(layers, LIMITS)


def judged(satisfied=False, loop=False, progress=True, instruction="Measure the areas."):
    given = {"satisfied": satisfied, "loop": loop, "progress": progress, "instruction": instruction}
    return ok(json.dumps({name: {"reason": "so", "answer": value} for name, value in given.items()}))


def said(key, text):
    return ok(json.dumps({key: text}))


def magentic(workshop, *responses, rules=RULES, **more):
    return solve(lambda client, **given: magentic_solver(client, workshop, rules=rules, **given), *responses, **more)


def last_words(body):
    return body["messages"][-1]["content"][-1]["text"]


def test_a_manager_and_a_solver_decide_together(workshop):
    measure = (
        "import numpy as np\nfrom PIL import Image\nprint('area', (np.asarray(Image.open('target.png')) > 0).sum())"
    )
    script, reply = magentic(
        workshop,
        said("facts", "GIVEN: two shapes."),
        said("plan", "- measure"),
        judged(),
        calls(python(measure)),
        said("report", "The area is larger; I would yaw."),
        judged(satisfied=True),
        ok(ANSWER),
    )
    assert reply.action == action_index("YAW_POS", 30)
    fields = reply.fields
    assert (fields["rounds"], fields["resets"], fields["talk_ended"], fields["answers"]) == (2, 0, "satisfied", 7)
    facts, plan, first, asked, reported, second, final = script.bodies
    # Only the solver has tools; both see the pictures: two earlier panels and the current one.
    assert ["tools" in body for body in script.bodies] == [False, False, False, True, True, False, False]
    for body in script.bodies:
        assert len([part for part in body["messages"][1]["content"] if part["type"] == "image_url"]) == 3
    assert "GIVEN: two shapes." in last_words(plan)
    assert "- measure" in last_words(first)
    assert "(Nothing.)" in last_words(first)
    assert "The manager to you: Measure the areas." in last_words(asked)
    assert "You are the solver of a team." in asked["messages"][0]["content"]
    assert "You manage this step" in facts["messages"][0]["content"]
    assert "area " in tool_messages(reported)[0]
    assert "The solver: The area is larger; I would yaw." in last_words(second)
    assert "Now decide." in last_words(final)
    assert [tool["tool"] for tool in fields["tools"]] == ["python"]


def test_four_rounds_and_then_the_manager_decides(workshop):
    # Every round uses two tool calls: four in total for the step, also over the rounds.
    round_ = (judged(), calls(python("print(1)"), python("print(2)")), said("report", "r"))
    bare = (judged(), said("report", "r"))
    script, reply = magentic(
        workshop, said("facts", "f"), said("plan", "p"), *round_, *round_, *bare, *bare, ok("hm"), ok(ANSWER)
    )
    assert reply.action is not None
    assert (reply.fields["rounds"], reply.fields["talk_ended"]) == (4, "rounds")
    assert len(reply.fields["tools"]) == 4
    assert reply.fields["codes"] == ["no_object"]
    assert script.bodies[-1] == script.bodies[-2]
    with_tools = ["tools" in body for body in script.bodies]
    assert with_tools == [False] * 3 + [True] * 2 + [False, True] + [False] * (len(script.bodies) - 7)


def test_one_reset_and_then_the_manager_decides(workshop):
    start = (said("facts", "old facts"), said("plan", "old plan"))
    again = (said("facts", "new facts"), said("plan", "new plan"))
    stuck = judged(progress=False)
    script, reply = magentic(
        workshop,
        *start,
        stuck,  # the first stall, above a limit of none: a new plan
        *again,
        judged(),
        said("report", "r"),
        judged(loop=True),
        ok(ANSWER),
        rules=Rules(stalls=0),
    )
    assert reply.action is not None
    assert (reply.fields["rounds"], reply.fields["resets"], reply.fields["talk_ended"]) == (3, 1, "resets")
    assert "old plan" in last_words(script.bodies[4])
    assert "new plan" in last_words(script.bodies[-1])
    assert "old plan" not in last_words(script.bodies[-1])


def test_a_judgement_that_cannot_be_read_is_asked_for_again_and_then_a_new_plan(workshop):
    start = (said("facts", "f"), said("plan", "p"))
    script, reply = magentic(workshop, *start, ok("well"), ok('{"satisfied": 1}'), judged(satisfied=True), ok(ANSWER))
    assert reply.action is not None
    assert reply.fields["rounds"] == 1
    script, reply = magentic(workshop, *start, *[ok("well")] * 3, *start, judged(satisfied=True), ok(ANSWER))
    assert (reply.fields["resets"], reply.fields["rounds"]) == (1, 2)
    assert len(script.bodies) == 9


def test_prose_around_what_a_manager_says_is_no_obstacle(workshop):
    fenced = judged(satisfied=True)[1]["choices"][0]["message"]["content"]
    _, reply = magentic(
        workshop, ok("Facts, plainly."), ok("A plan."), ok(f"Well:\n```json\n{fenced}\n```"), ok(ANSWER)
    )
    assert reply.action is not None
    assert reply.fields["talk_ended"] == "satisfied"


def test_no_legal_action_is_the_teams_failure(workshop):
    start = (said("facts", "f"), said("plan", "p"), judged(satisfied=True))
    script, reply = magentic(workshop, *start, ok("no"))
    assert (reply.action, reply.failure, len(script.bodies)) == (None, "no_object", 10)


def test_a_team_goes_on_where_it_was_killed(workshop):
    responses = [
        said("facts", "f"),
        said("plan", "p"),
        judged(),
        calls(python("open('n', 'w').write('17')")),
        calls(python("print('kept', open('n').read())")),
        said("report", "r"),
        judged(satisfied=True),
        ok(ANSWER),
    ]
    question = make_question()
    script, whole = magentic(workshop, *responses, question=question)
    for done in (1, 5):
        again = make_question(journal=Journal(question.journal.added[:done]))
        rest, reply = magentic(workshop, *responses[done:], question=again)
        assert rest.bodies[-1] == script.bodies[-1]
        assert len(rest.bodies) == 8 - done
        assert reply.action == whole.action
        assert reply.fields["answers"] == 8
