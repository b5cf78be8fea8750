"""`Conversation`: a step's questions to the model; each answer is on record before it is acted on, none asked twice."""

from collections.abc import Sequence
from typing import Any

from rotajax.solvers.api import ask_paid, has_tokens
from rotajax.solvers.client import ChatClient
from rotajax.solvers.parse import Answer, Malformed, read_answer
from rotajax.solvers.price import Budget, Price
from rotajax.solvers.question import Question
from rotajax.solvers.reply import InfrastructureError
from rotajax.solvers.usage import NOTHING, Usage


class Conversation:
    """Asks one model for one step, in one or more roles.

    Answers of an earlier run of the same step are taken from its journal, in their order, before any is asked for. An
    answer without any output is asked for again, up to `retries` times in a row, as the endpoint's failure.
    """

    def __init__(
        self,
        client: ChatClient,
        question: Question,
        *,
        retries: int,
        price: Price | None = None,
        budget: Budget | None = None,
    ):
        self._client = client
        self._journal = question.journal
        self._earlier = [answer for answer in question.journal.earlier if _says_something(answer)]
        self._retries = retries
        self._price = price
        self._budget = budget
        self._answers: list[dict[str, Any]] = []
        self._silent = 0
        self.codes: list[str] = []  # why answers that should have been an action were none

    async def ask(
        self, role: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Return the model's answer as it is recorded, with its "role" and "tool_calls"."""
        if self._earlier:
            answer = self._earlier.pop(0)
            if answer["role"] == role:
                self._answers.append(answer)
                return answer
            self._earlier.clear()  # the step went another way this time; what was paid for stays on record
        silent = 0
        while True:
            answer = {"role": role, **await self._request(messages, tools)}
            await self._journal.add(answer)
            if _says_something(answer):
                self._answers.append(answer)
                return answer
            silent += 1
            self._silent += 1
            if silent > self._retries:
                model = self._client.model
                raise InfrastructureError("no_tokens", f"{model}: {silent} answers without output tokens")

    def read_action(self, answer: dict[str, Any]) -> Answer | Malformed:
        """Return the action of an answer, or why it has none, which is counted."""
        read = read_answer(answer["text"], finish_reason=answer["finish_reason"], refusal=answer["refusal"])
        if isinstance(read, Malformed):
            self.codes.append(read.code)
        return read

    def fields(self) -> dict[str, Any]:
        """Return what is recorded with the decision: its last answer, and the sums over all answers of the step."""
        answers = self._answers
        costs = [answer["cost"] for answer in answers if answer["cost"] is not None]
        return {
            "reply": answers[-1]["text"],
            "reasoning": answers[-1]["reasoning"],
            "retries": len(self.codes),
            "codes": list(self.codes),
            "silent": self._silent,
            "answers": len(answers),
            "usage": sum((Usage(**answer["usage"]) for answer in answers), NOTHING).fields(),
            "cost": sum(costs) if costs else None,
            "seconds": round(sum(answer["seconds"] for answer in answers), 3),
            "requests": sum(answer["requests"] for answer in answers),
        }

    async def _request(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] | None
    ) -> dict[str, Any]:
        completion, answer = await ask_paid(self._client, messages, self._price, self._budget, tools=tools)
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in completion.tool_calls]
        return answer | {"tool_calls": calls}


def assistant_message(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded answer as the message of a conversation that goes on."""
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in answer["tool_calls"]
    ]
    return {"role": "assistant", "content": answer["text"] or None, **({"tool_calls": calls} if calls else {})}


def _says_something(answer: dict[str, Any]) -> bool:
    return bool(answer["tool_calls"]) or has_tokens(answer)
