"""`open_endpoint`: what the options of a command say of an endpoint: its client, price, budget and first call."""

import argparse
import dataclasses
from typing import Any

from rotajax.checks import require
from rotajax.solvers.api import ask_paid
from rotajax.solvers.client import ChatClient
from rotajax.solvers.completion import Completion
from rotajax.solvers.preflight import PICTURES, preflight
from rotajax.solvers.price import Budget, Price, find_price, read_prices
from rotajax.solvers.question import CONDITIONS, Journal
from rotajax.solvers.reply import Prepare
from rotajax.solvers.secret import key_from_environment
from rotajax.solvers.settings import Settings


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A model that can be asked."""

    client: ChatClient
    price: Price | None
    budget: Budget
    prepare: Prepare | None  # the preflight
    asked: dict  # for run.json: all that an answer depends on; the address may change


def open_endpoint(args: argparse.Namespace) -> Endpoint:
    """Return the endpoint of --model, --base-url, --key-env, --prices, --max-cost and the settings of Table 19.

    Raises ValueError for what is missing: a model, an address, a price where there is a budget, a named key.
    """
    require(bool(args.model), f"eval --solver {args.solver}: --model", "the name of a model", "none")
    require(bool(args.base_url), f"eval --solver {args.solver}: --base-url", "the address of an endpoint", "none")
    key = key_from_environment((args.key_env,)) if args.key_env else key_from_environment()
    require(not args.key_env or key is not None, f"--key-env {args.key_env}", "a variable that is set", "none")
    settings = Settings(
        temperature=args.temperature,
        effort=args.effort,
        max_tokens=args.max_tokens,
        timeout=args.timeout,
        concurrency=args.in_flight,
    )
    client = ChatClient(args.base_url, args.model, key, settings)
    price = price_of(args)
    budget = Budget(args.max_cost)
    pictures = PICTURES if CONDITIONS[args.condition].history else 1

    async def prepare(journal: Journal) -> list[str]:
        async def ask(messages: list[dict[str, Any]]) -> Completion:
            completion, answer = await ask_paid(client, messages, price, budget)
            await journal.add(answer)
            return completion

        warning = (await preflight(ask, pictures=pictures)).warning
        return [warning] if warning else []

    answers = {name: getattr(settings, name) for name in ("temperature", "seed", "effort", "max_tokens", "json_mode")}
    asked = {"model": args.model, **answers}
    return Endpoint(client, price, budget, prepare if args.preflight else None, asked)


def price_of(args: argparse.Namespace) -> Price | None:
    """Return the price of --model in --prices. Raises ValueError where the file has none, or a budget has no prices."""
    needed = args.max_cost is not None and not args.prices
    require(not needed, "--max-cost", "--prices FILE beside it", "none")
    return find_price(read_prices(args.prices), args.model) if args.prices else None
