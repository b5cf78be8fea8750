"""`Settings`: what is asked of a model and of the connection to it (Appendix L, Table 19)."""

import dataclasses
from typing import Any

from rotajax.checks import require, require_at_least

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


@dataclasses.dataclass(frozen=True)
class Settings:
    """The values of Table 19. None leaves a parameter out. Raises ValueError for values out of range."""

    temperature: float | None = 0.0
    seed: int | None = 42
    effort: str | None = "medium"  # "where supported"
    max_tokens: int = 8192
    json_mode: bool = True  # "Response format: JSON", asked of the server as well, except beside tools
    timeout: float = 1500.0  # seconds a request
    retries: int = 2
    backoff: float = 1.6  # seconds before the first retry, doubled before the second
    concurrency: int = 16  # requests in flight

    def __post_init__(self) -> None:
        require_at_least(self.max_tokens, 1, "client: max_tokens")
        require_at_least(self.retries, 0, "client: retries")
        require_at_least(self.concurrency, 1, "client: concurrency")
        require(self.timeout > 0, "client: timeout", "seconds above 0", self.timeout)
        require(self.backoff >= 0, "client: backoff", "seconds of at least 0", self.backoff)
        known = self.effort is None or self.effort in EFFORTS
        require(known, "client: effort", f"one of {', '.join(EFFORTS)}, or None", repr(self.effort))

    def parameters(self, *, json_mode: bool) -> dict[str, Any]:
        """Return the parameters of a request, None for what is left out, before a dialect."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "reasoning_effort": self.effort,
            "max_tokens": self.max_tokens,
            "response_format": {"type": "json_object"} if self.json_mode and json_mode else None,
        }
