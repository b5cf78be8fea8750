"""How long to wait before a request is sent again: the server's word, or a doubling pause."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Seconds; a server that asks for more is asked again after this, so that no broken clock stops a run for a day.
LONGEST = 300.0
# Requests that were refused together do not come back together.
JITTER = 0.25


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds, [0, LONGEST], that an answer's headers ask to wait: `retry-after-ms`, or `Retry-After` as
    seconds or as an HTTP date (RFC 9110, 10.2.3). None where there is none that can be read.
    """
    given = headers.get("retry-after-ms")
    seconds = _number(given)
    if seconds is not None:
        seconds /= 1000.0
    else:
        given = headers.get("Retry-After")
        seconds = _number(given)
    if seconds is None and given:
        try:
            at = parsedate_to_datetime(given.strip())
        except (ValueError, OverflowError):
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)  # "-0000" leaves the zone open; HTTP dates are GMT
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    return None if seconds is None else min(max(seconds, 0.0), LONGEST)


def pause(retry: int, base: float, draw: random.Random) -> float:
    """Return the seconds before retry 0, 1, ...: the base (s) doubled each time, and up to a quarter more."""
    return min(base * 2.0**retry, LONGEST) * (1.0 + JITTER * draw.random())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None
