"""`api_solver`: a vision-language model behind a chat endpoint as a solver, asked again until its action is legal.

Answers that are not legal are asked for again with the same bytes, up to six times, and counted as in Table 13: an
answer counts if it has output tokens. One without any is a failed transmission; it is asked for again as well, counted
apart, and after as many of them in a row as there may be retries it is the endpoint's failure, not the model's.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from rotajax.solvers.client import ChatClient, Messages
from rotajax.solvers.completion import Completion
from rotajax.solvers.parse import Answer, read_answer
from rotajax.solvers.price import Budget, Price, paid
from rotajax.solvers.prompt import make_prompt
from rotajax.solvers.question import Question
from rotajax.solvers.reply import InfrastructureError, Prepare, Reply, Solver
from rotajax.solvers.usage import NOTHING, Usage

RETRIES = 6


def api_solver(
    client: ChatClient,
    *,
    retries: int = RETRIES,
    price: Price | None = None,
    budget: Budget | None = None,
    prepare: Prepare | None = None,
) -> Solver:
    """Return the solver of a client's model.

    retries: answers asked for after the first, for a legal one; a question without any ends in the Reply's failure, the
    last answer's code. budget: checked before every request, and needs a price. prepare: awaited once before the first
    question of a run with the journal of its own calls, such as a preflight; it returns lines for the user.
    """

    async def solve(question: Question) -> Reply:
        answers = [answer for answer in question.journal.earlier if has_tokens(answer)]
        silent = 0
        while (reply := judged(answers, retries, silent)) is None:
            try:
                _, answer = await ask_paid(client, make_prompt(question), price, budget)
            except InfrastructureError as error:
                if error.kind != "too_long":
                    raise
                # A history that does not fit is the model's limit: left out, its long episodes would flatter it.
                return Reply(None, failure="context_exceeded", fields={"detail": str(error)})
            await question.journal.add(answer)
            if has_tokens(answer):
                answers.append(answer)
            elif silent < retries:
                silent += 1
            else:
                raise InfrastructureError("no_tokens", f"{client.model}: {silent + 1} answers without output tokens")
        return reply

    solve.aclose = client.aclose  # type: ignore[attr-defined]
    if prepare:
        solve.prepare = prepare  # type: ignore[attr-defined]
    return solve


def has_tokens(answer: dict[str, Any]) -> bool:
    """Return whether a recorded answer contains output tokens; where the server does not say, whether it says a thing.

    A refusal is an answer, also one by a filter that lets no token out.
    """
    if answer["refusal"] or answer["finish_reason"] == "content_filter":
        return True
    usage = answer["usage"]
    return bool(usage["completion"] if usage["known"] else (answer["text"].strip() or answer["reasoning"]))


def judged(answers: Sequence[dict[str, Any]], retries: int, silent: int = 0) -> Reply | None:
    """Return what answers with output tokens come to: the action of a legal one, the failure after the last retry,
    None where another one is to be asked for.
    """
    codes = []
    for count, answer in enumerate(answers, 1):
        read = read_answer(answer["text"], finish_reason=answer["finish_reason"], refusal=answer["refusal"])
        if isinstance(read, Answer):
            reading = "strict" if read.strict else "tolerant"
            fields = _fields(answers[:count], codes, silent) | {"reading": reading}
            return Reply(read.action, text=read.text, fields=fields)
        codes.append(read.code)
        if count > retries:
            return Reply(None, failure=read.code, fields=_fields(answers[:count], codes, silent))
    return None


async def ask_paid(
    client: ChatClient, messages: Messages, price: Price | None, budget: Budget | None, **options: Any
) -> tuple[Completion, dict[str, Any]]:
    """Return a client's answer, paid from the budget, and as it is recorded; options are those of `complete`.

    Of the address only the host is recorded: the rest may hold a secret.
    """
    completion, cost = await paid(lambda: client.complete(messages, **options), price, budget)
    return completion, {
        "text": completion.text,
        "reasoning": completion.reasoning,
        "finish_reason": completion.finish_reason,
        "refusal": completion.refusal,
        "usage": completion.usage.fields(),
        "cost": cost,
        "seconds": round(completion.seconds, 3),
        "waited": round(completion.waited, 3),
        "requests": completion.attempts,
        "failures": list(completion.failures),
        "id": completion.raw_id,
        "model": completion.model,
        "endpoint": urlsplit(client.url).hostname,
        "dialect": client.dialect.describe(),
    }


def _fields(answers: Sequence[dict[str, Any]], codes: list[str], silent: int) -> dict[str, Any]:
    """Return what is recorded with a decision: its last answer, and the sums over all."""
    last, costs = answers[-1], [answer["cost"] for answer in answers if answer["cost"] is not None]
    return {
        "reply": last["text"],
        "reasoning": last["reasoning"],
        "retries": len(answers) - 1,
        "codes": list(codes),
        "silent": silent,
        "usage": sum((Usage(**answer["usage"]) for answer in answers), NOTHING).fields(),
        "cost": sum(costs) if costs else None,
        "seconds": round(sum(answer["seconds"] for answer in answers), 3),
        "requests": sum(answer["requests"] for answer in answers),
    }
