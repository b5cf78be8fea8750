"""`Dialect`: which of the request's parameters an endpoint takes, found out from its own errors, once."""

import dataclasses
import re
from typing import Any

from rotajax.solvers.answer_error import AnswerError

# Older servers ignore `max_completion_tokens` in silence and would write without end; newer models refuse
# `max_tokens` aloud. So this one is tried first.
LIMITS = ("max_tokens", "max_completion_tokens")
OPTIONAL = ("temperature", "seed", "reasoning_effort", "response_format")
# What servers say of a parameter that they do not take, as opposed to a value out of range.
_REFUSED = re.compile(
    r"unsupported|not support|n.t support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed"
    r"|deprecated|not available|not compatible|incompatible|only the default|instead",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class Dialect:
    """The name of the token limit, and the parameters that the endpoint refused and that are no longer sent."""

    limit: str = LIMITS[0]
    dropped: frozenset[str] = frozenset()

    def parameters(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return what is sent of what is wanted; `max_tokens` under the name that the endpoint takes."""
        return {
            self.limit if name == LIMITS[0] else name: value
            for name, value in wanted.items()
            if value is not None and name not in self.dropped
        }

    def after(self, error: AnswerError, sent: dict[str, Any]) -> "Dialect | None":
        """Return the dialect that avoids this refusal of a request, or None where the refusal is about something else.

        `sent` are the parameters of the refused request. The limit is renamed once and never left out: an answer
        without a limit can cost anything.
        """
        if error.status not in (400, 422):
            return None
        text = f"{error.code} {error.message}"
        if not _REFUSED.search(text):
            return None
        named = next((name for name in (*OPTIONAL, *LIMITS) if name in sent and _names(name, error)), None)
        if named is None:
            return None
        if named in OPTIONAL:
            return dataclasses.replace(self, dropped=self.dropped | {named})
        if named == LIMITS[0] and self.limit == LIMITS[0]:
            return dataclasses.replace(self, limit=LIMITS[1])
        return None

    def describe(self) -> dict[str, Any]:
        """Return JSON of it for a run's records: a result without temperature 0 is another result."""
        return {"limit": self.limit, "dropped": sorted(self.dropped)}


def _names(name: str, error: AnswerError) -> bool:
    if error.param:
        return error.param == name or error.param.endswith(f".{name}")
    return re.search(rf"(?<![\w]){name}(?![\w])", error.message) is not None
