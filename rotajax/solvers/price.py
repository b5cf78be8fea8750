"""`Price` and `Budget`: what tokens cost, and when a run has spent enough."""

import dataclasses
import json
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rotajax.checks import require, require_file, require_member
from rotajax.solvers.completion import Completion
from rotajax.solvers.reply import Stopped
from rotajax.solvers.usage import Usage

FORMAT = "rotajax.prices/1"
_EXAMPLE = f'{{"format": "{FORMAT}", "models": {{"NAME": {{"input": 5.0, "cached_input": 0.5, "output": 30.0}}}}}}'
_RATES = ("input", "cached_input", "output")
_MILLION = 1e6


@dataclasses.dataclass(frozen=True)
class Price:
    """Currency a million tokens of each kind. Raises ValueError for a rate that is no number of at least 0."""

    input: float
    output: float
    cached_input: float | None = None  # None: as `input`

    def __post_init__(self) -> None:
        for name in _RATES:
            _require_rate(f"price: {name}", getattr(self, name), optional=name == "cached_input")

    def cost(self, usage: Usage) -> float:
        """Return what an answer costs. Cached tokens are a part of the prompt's, paid at their own rate and not again;
        reasoning tokens are a part of the completion's, paid with them.
        """
        cached_rate = self.input if self.cached_input is None else self.cached_input
        fresh = usage.prompt - usage.cached
        return (fresh * self.input + usage.cached * cached_rate + usage.completion * self.output) / _MILLION


def read_prices(path: str | Path) -> dict[str, Price]:
    """Return the prices of a file by model. Raises ValueError for a file that is none.

    The file: {"format": "rotajax.prices/1", "models": {"NAME": {"input": 5.0, "cached_input": 0.5, "output": 30.0}}},
    rates a million tokens, cached_input optional; further keys, such as the currency and a source, are welcome.
    """
    path = require_file(path, "prices")
    name = f"prices '{path}'"
    try:
        document = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: expected JSON such as {_EXAMPLE}, got something else") from None
    good = isinstance(document, dict) and document.get("format") == FORMAT and isinstance(document.get("models"), dict)
    require(good, name, _EXAMPLE, "another document")
    return {model: _price(f"{name}: {model}", rates) for model, rates in document["models"].items()}


def find_price(prices: dict[str, Price], model: str) -> Price:
    """Return the price of a model. Raises ValueError where the file has none: a budget must not run on a guess."""
    return prices[require_member(model, prices, "prices: model")]


def _price(name: str, rates: Any) -> Price:
    require(isinstance(rates, dict), name, "rates by name", repr(rates))
    missing = [rate for rate in ("input", "output") if rate not in rates]
    require(not missing, name, "input and output", f"no {' and no '.join(missing)}")
    given = {rate: rates[rate] for rate in _RATES if rate in rates}
    for rate, value in given.items():
        _require_rate(f"{name}: {rate}", value, optional=rate == "cached_input")
    return Price(**given)


def _require_rate(name: str, rate: Any, *, optional: bool) -> None:
    number = isinstance(rate, int | float) and not isinstance(rate, bool) and math.isfinite(rate) and rate >= 0
    require(number or (optional and rate is None), name, "currency a million tokens, at least 0", repr(rate))


@dataclasses.dataclass
class Budget:
    """What a run has spent, against a limit; None for no limit. Pass what earlier parts of the run spent.

    Answers in flight are counted at the dearest one so far, so that many in flight do not overshoot by their number.
    """

    limit: float | None = None
    spent: float = 0.0
    in_flight: int = 0
    dearest: float = 0.0
    blind: bool = False  # whether an answer came without its number of tokens

    def __post_init__(self) -> None:
        good = self.limit is None or (math.isfinite(self.limit) and self.limit >= 0)
        require(good, "--max-cost", "a cost of at least 0", self.limit)

    def begin(self) -> None:
        """Count a request that is about to be sent. Raises Stopped where the budget may not hold for it."""
        if self.limit is not None and self.blind:
            raise Stopped("--max-cost: expected a server that says how many tokens an answer has, got none said")
        if self.limit is not None and self.spent + (self.in_flight + 1) * self.dearest > self.limit - _SMALLEST:
            raise Stopped(
                f"--max-cost: spent {self.spent:.4f} of {self.limit:g}, {self.in_flight} requests in flight,"
                f" up to {self.dearest:.4f} each"
            )
        self.in_flight += 1

    def end(self, cost: float) -> None:
        """Count what a request cost, 0 where it came to nothing."""
        self.in_flight -= 1
        self.spent += cost
        self.dearest = max(self.dearest, cost)


# A budget that is spent to the last digit is spent.
_SMALLEST = 1e-12


async def paid(
    request: Callable[[], Awaitable[Completion]], price: Price | None, budget: Budget | None
) -> tuple[Completion, float | None]:
    """Return a request's answer and what it cost, None without a price, counted in the budget.

    An answer without its number of tokens costs nothing that is known, and is the last one within a budget; a refusal
    by a filter has none. Raises Stopped, and sends nothing, where the budget may not hold.
    """
    if budget:
        budget.begin()
    cost = None
    try:
        answer = await request()
        cost = price.cost(answer.usage) if price else None
        if budget and not answer.usage.known and answer.finish_reason != "content_filter":
            budget.blind = True
    finally:
        if budget:
            budget.end(cost or 0.0)
    return answer, cost
