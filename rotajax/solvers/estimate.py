"""`estimate`: what a run may cost, before anything is sent."""

import dataclasses
import math

from rotajax.solvers.price import Price
from rotajax.solvers.question import Condition
from rotajax.solvers.usage import Usage

# One token for 32 x 32 pixels, and a token for four characters of text.
PATCH = 32
CHARACTERS = 4
HEIGHT, FULL, NARROW = 320, 972, 646
TURNS = 48
# Of GPT-5.6-Sol on the paper's 100 tasks (Tables 14 and 20): 2,366 rotations, 853,753 output tokens.
TYPICAL_TURNS, OUTPUT_TOKENS = 24, 361
SYSTEM_TOKENS, USER_TOKENS, TURN_TOKENS = 312, 60, 75


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Requests, tokens and cost (None without a price) of episodes of one length."""

    turns: int
    requests: int
    usage: Usage
    cost: float | None

    def line(self) -> str:
        """Return it as one line."""
        cost = "" if self.cost is None else f", {self.cost:,.2f} at uncached rates"
        tokens = f"{self.usage.prompt:,} input and {self.usage.completion:,} output tokens"
        return f"{self.turns} decisions an episode: {self.requests:,} requests, {tokens}{cost}"


ASSUMPTION = (
    f"assumed: one token for {PATCH} x {PATCH} pixels and for {CHARACTERS} characters, {OUTPUT_TOKENS} output tokens an"
    f" answer, no retries, nothing cached; {TYPICAL_TURNS} decisions are what the paper's best model took on average,"
    f" {TURNS} are the most"
)


def estimate(episodes: int, condition: Condition, turns: int, price: Price | None) -> Estimate:
    """Return what episodes of so many turns come to, by the assumptions of ASSUMPTION."""
    width = FULL if condition.auxiliary else NARROW
    picture = math.ceil(width / PATCH) * math.ceil(HEIGHT / PATCH)
    earlier = turns * (turns - 1) // 2 if condition.history else 0
    prompt = turns * (SYSTEM_TOKENS + USER_TOKENS + picture) + earlier * (picture + TURN_TOKENS)
    usage = Usage(prompt=episodes * prompt, completion=episodes * turns * OUTPUT_TOKENS, known=True)
    return Estimate(turns, episodes * turns, usage, None if price is None else price.cost(usage))
