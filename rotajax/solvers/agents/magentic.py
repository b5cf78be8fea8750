"""`magentic_solver`: a manager that plans and decides, and a solver with tools that works for it (Magentic; Table 19).

The paper gives the numbers, one manager, one solver, at most four rounds and one reset, and not the words or the rest;
those are ours, after the published scheme: facts and a plan first; each round a judgement, an instruction to the solver
and its report; a new plan where it stalls. Where the rounds or the reset are used up the manager still decides.
"""

import dataclasses
import json
from typing import Any

from rotajax.solvers.agents.conversation import Conversation, assistant_message
from rotajax.solvers.agents.react import answer_with_tools, tools_text
from rotajax.solvers.agents.tools import Toolbox, Workshop, text
from rotajax.solvers.api import RETRIES
from rotajax.solvers.client import ChatClient
from rotajax.solvers.parse import Answer
from rotajax.solvers.price import Budget, Price
from rotajax.solvers.prompt import messages as prompt_messages
from rotajax.solvers.question import Question
from rotajax.solvers.reply import Prepare, Reply, Solver

# Requests for a judgement that can be read, before it counts as a stall that needs a new plan.
_JUDGEMENTS = 3


@dataclasses.dataclass(frozen=True)
class Rules:
    """When a step's talk ends: rounds and resets as in Table 19; stalls beyond which a new plan is made."""

    rounds: int = 4
    resets: int = 1
    stalls: int = 3  # the published scheme's; the paper does not say


RULES = Rules()


@dataclasses.dataclass
class _Judgement:
    satisfied: bool
    stalled: bool
    instruction: str


class _Step:
    """The talk of one step."""

    def __init__(self, talk: Conversation, workshop: Workshop, question: Question, rules: Rules):
        self.talk = talk
        self.rules = rules
        self.box = Toolbox(workshop, question)
        self.rounds = self.resets = 0
        self.ended = "rounds"
        system, self._task = prompt_messages(question)
        managing = _words("manager", calls=workshop.calls)
        solving = f"{tools_text(workshop, question)}\n{_words('solver')}"
        self._manager = {"role": "system", "content": f"{system['content']}\n{managing}"}
        self._solver = {"role": "system", "content": f"{system['content']}\n{solving}"}
        self._facts = self._plan = ""
        self._said: list[str] = []  # between manager and solver, since the plan
        self._solving: list[dict[str, Any]] = []  # the solver's own conversation

    async def discuss(self) -> None:
        """Talk until enough is known, or a limit is met."""
        self._facts = await self._ask("facts", "facts")
        self._plan = await self._ask("plan", "plan", facts=self._facts)
        stalls = 0
        while self.rounds < self.rules.rounds:
            self.rounds += 1
            judgement = await self._judge()
            if judgement and judgement.satisfied:
                self.ended = "satisfied"
                return
            if judgement:
                stalls = stalls + 1 if judgement.stalled else max(0, stalls - 1)
            if judgement is None or stalls > self.rules.stalls:
                if self.resets >= self.rules.resets:
                    self.ended = "resets"
                    return
                await self._start_again()
                stalls = 0
                continue
            await self._instruct(judgement.instruction)

    async def decide(self) -> dict[str, Any]:
        """Return the manager's answer with the action."""
        return await self._request(_words("final", ledger=self._ledger(), talk=self._talk()))

    async def _start_again(self) -> None:
        self.resets += 1
        self._facts = await self._ask("facts", "facts_update", ledger=self._ledger(), talk=self._talk())
        self._plan = await self._ask("plan", "plan_update", facts=self._facts, plan=self._plan)
        self._said, self._solving = [], []

    async def _judge(self) -> _Judgement | None:
        words = _words("progress", ledger=self._ledger(), talk=self._talk())
        for _ in range(_JUDGEMENTS):
            judgement = _read_judgement((await self._request(words))["text"])
            if judgement:
                return judgement
        return None

    async def _instruct(self, instruction: str) -> None:
        """Have the solver do something, with its tools, and keep what it reports."""
        if not self._solving:
            words = _words("instruct", ledger=self._ledger(), instruction=instruction)
            self._solving = [self._solver, self._with(words)]
        else:
            self._solving.append({"role": "user", "content": f"The manager to you: {instruction}"})
        answer = await answer_with_tools(self.talk, "solver", self._solving, self.box)
        report = _unwrapped(answer, "report") or "(The solver said nothing.)"
        self._solving.append(assistant_message(answer | {"text": answer["text"].strip() or report, "tool_calls": []}))
        self._said += [f"The manager to the solver: {instruction}", f"The solver: {report}"]

    async def _ask(self, key: str, name: str, **values: Any) -> str:
        return _unwrapped(await self._request(_words(name, **values)), key)

    async def _request(self, words: str) -> dict[str, Any]:
        return await self.talk.ask("manager", [self._manager, self._with(words)])

    def _with(self, words: str) -> dict[str, Any]:
        """The task's message, pictures and all, with more words at its end."""
        return {"role": "user", "content": [*self._task["content"], {"type": "text", "text": words}]}

    def _ledger(self) -> str:
        return _words("ledger", facts=self._facts, plan=self._plan)

    def _talk(self) -> str:
        return "\n\n".join(self._said) or "(Nothing.)"


def magentic_solver(
    client: ChatClient,
    workshop: Workshop,
    *,
    rules: Rules = RULES,
    retries: int = RETRIES,
    price: Price | None = None,
    budget: Budget | None = None,
    prepare: Prepare | None = None,
) -> Solver:
    """Return the solver: a team of two roles of one model, whose tool calls are counted together.

    An action that is not legal is asked for again, up to `retries` times; the talk is not repeated for it. The others
    as in `react_solver`.
    """

    async def solve(question: Question) -> Reply:
        talk = Conversation(client, question, retries=retries, price=price, budget=budget)
        step = _Step(talk, workshop, question, rules)
        try:
            await step.discuss()
            while True:
                action = talk.read_action(await step.decide())
                if isinstance(action, Answer) or len(talk.codes) > retries:
                    break
        finally:
            await step.box.aclose()
        fields = talk.fields() | {"rounds": step.rounds, "resets": step.resets, "talk_ended": step.ended}
        fields |= {"tools": step.box.log}
        if isinstance(action, Answer):
            reading = {"reading": "strict" if action.strict else "tolerant"}
            return Reply(action.action, text=action.text, fields=fields | reading)
        return Reply(None, failure=action.code, fields=fields)

    solve.aclose = client.aclose  # type: ignore[attr-defined]
    if prepare:
        solve.prepare = prepare  # type: ignore[attr-defined]
    return solve


def _words(name: str, **values: Any) -> str:
    return text(f"magentic/{name}").substitute(values)


def _unwrapped(answer: dict[str, Any], key: str) -> str:
    """Return the text that an answer has under a key, or all of it where it is in another form: nothing is lost.

    Where no tools are offered a server may be asked for JSON, so that every text is asked for as an object.
    """
    said = answer["text"].strip()
    try:
        read = json.loads(said)
    except (ValueError, RecursionError):
        return said
    return read[key].strip() if isinstance(read, dict) and isinstance(read.get(key), str) else said


def _read_judgement(said: str) -> _Judgement | None:
    """Return the first judgement in an answer, within prose or not; None where there is none."""
    decoder, at = json.JSONDecoder(), said.find("{")
    while at >= 0:
        try:
            read, _ = decoder.raw_decode(said, at)
            satisfied, loop, progress, instruction = (
                read[name]["answer"] for name in ("satisfied", "loop", "progress", "instruction")
            )
            flags = (satisfied, loop, progress)
            if all(isinstance(flag, bool) for flag in flags) and isinstance(instruction, str):
                return _Judgement(satisfied, loop or not progress, instruction)
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        at = said.find("{", at + 1)
    return None
