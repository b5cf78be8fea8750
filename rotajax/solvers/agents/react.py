"""`react_solver`: one model that may work on its pictures with tools before it answers (ReAct; Table 19)."""

from typing import Any

from rotajax.solvers.agents.conversation import Conversation, assistant_message
from rotajax.solvers.agents.tools import Toolbox, Workshop, text
from rotajax.solvers.api import RETRIES
from rotajax.solvers.client import ChatClient
from rotajax.solvers.parse import Answer
from rotajax.solvers.price import Budget, Price
from rotajax.solvers.prompt import messages as prompt_messages
from rotajax.solvers.question import Question
from rotajax.solvers.reply import Prepare, Reply, Solver


def react_solver(
    client: ChatClient,
    workshop: Workshop,
    *,
    retries: int = RETRIES,
    price: Price | None = None,
    budget: Budget | None = None,
    prepare: Prepare | None = None,
) -> Solver:
    """Return the solver. Its messages are those of `api_solver` with a paragraph on the tools in the system text.

    workshop: how code is shut in, `Workshop(available().require())`; the others as in `api_solver`. Each step has a
    workspace of its own, with the pictures that the model is shown.
    """

    async def solve(question: Question) -> Reply:
        talk = Conversation(client, question, retries=retries, price=price, budget=budget)
        box = Toolbox(workshop, question)
        messages = prompt_messages(question)
        messages[0]["content"] += "\n" + tools_text(workshop, question)
        try:
            while True:
                answer = await answer_with_tools(talk, "solver", messages, box)
                action = talk.read_action(answer)
                if isinstance(action, Answer):
                    reading = {"reading": "strict" if action.strict else "tolerant"}
                    return Reply(action.action, text=action.text, fields=talk.fields() | reading | {"tools": box.log})
                if len(talk.codes) > retries:
                    return Reply(None, failure=action.code, fields=talk.fields() | {"tools": box.log})
        finally:
            await box.aclose()

    solve.aclose = client.aclose  # type: ignore[attr-defined]
    if prepare:
        solve.prepare = prepare  # type: ignore[attr-defined]
    return solve


async def answer_with_tools(
    talk: Conversation, role: str, messages: list[dict[str, Any]], box: Toolbox
) -> dict[str, Any]:
    """Return a role's first answer that calls no tool; calls, and what they gave, are added to its messages.

    Tools are offered while calls are left; after that, an answer that calls one all the same is returned as it is.
    """
    while True:
        offered = box.offered()
        answer = await talk.ask(role, messages, offered)
        if not (answer["tool_calls"] and offered):
            return answer
        messages.append(assistant_message(answer))
        messages += await box.answer(answer["tool_calls"])


def tools_text(workshop: Workshop, question: Question) -> str:
    """Return what a model is told of its tools."""
    last = len(question.history)
    named = {0: "", 1: "; state_01.png, the panel of the historical state"}
    history = named.get(last, f"; state_01.png to state_{last:02}.png, the panels of the historical states")
    oblique = ", oblique.png" if question.view is not None else ""
    return text("react").substitute(calls=workshop.calls, oblique=oblique, history=history)
