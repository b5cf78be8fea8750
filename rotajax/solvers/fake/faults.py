"""`Faults`: which answers of the endpoint go wrong, and how: the same for the same request, attempt and seed."""

import dataclasses
import hashlib

from rotajax.checks import require, require_at_least, require_member

# Those of the server and the wire, and those of the model.
SERVER = ("429", "429_after", "500", "slow", "html", "not_json", "no_choices", "drop", "drop_before")
MODEL = ("length", "empty", "malformed", "two", "illegal", "refusal")
KINDS = (*SERVER, *MODEL, "quota")
# "all" leaves the one out that ends a run.
ALL = KINDS[:-1]


@dataclasses.dataclass(frozen=True)
class Faults:
    """A share `rate` in [0, 1] of the answers has one of `kinds`. Raises ValueError for unknown kinds."""

    kinds: tuple[str, ...] = ()
    rate: float = 0.2
    seed: int = 0
    slow: float = 1.0  # seconds
    after: int = 1  # seconds, the Retry-After of 429_after
    most: int | None = None  # attempts at one request that may go wrong, None for any number

    def __post_init__(self) -> None:
        for kind in self.kinds:
            require_member(kind, KINDS, "faults")
        require(0 <= self.rate <= 1, "fault rate", "a share from 0 to 1", self.rate)
        require(self.slow >= 0 and self.after >= 0, "faults", "seconds of at least 0", (self.slow, self.after))
        if self.most is not None:
            require_at_least(self.most, 0, "faults: most")

    def of(self, content: str, attempt: int) -> str | None:
        """Return the kind of fault of attempt 0, 1, ... at a request, or None."""
        if not self.kinds or (self.most is not None and attempt >= self.most):
            return None
        draw = hashlib.sha256(f"{self.seed} {content} {attempt}".encode()).digest()
        share, pick = (int.from_bytes(draw[i : i + 8]) / 2**64 for i in (0, 8))
        return self.kinds[int(pick * len(self.kinds))] if share < self.rate else None


def read_faults(names: str) -> tuple[str, ...]:
    """Return the kinds of a comma-separated list; "all" stands for all but the exhausted quota."""
    given = [name.strip() for name in names.split(",") if name.strip()]
    return tuple(dict.fromkeys(kind for name in given for kind in (ALL if name == "all" else (name,))))
