"""`completions_url`: where an endpoint answers, from the address that a person gives."""

from urllib.parse import urlsplit

from rotajax.checks import require

_PATH = "/chat/completions"
_EXPECTED = "an address such as http://localhost:8000/v1"


def completions_url(base_url: str) -> str:
    """Return the address of an endpoint's completions. Raises ValueError for what is no http address, and for one
    with a password in it: addresses are written into records.
    """
    given = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(given)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        raise ValueError(f"base-url: expected {_EXPECTED}, got {given!r}") from None
    require(
        not (parts.username or parts.password), "base-url", "no password in it (keys come from the environment)", "one"
    )
    require(parts.scheme in ("http", "https") and bool(parts.hostname), "base-url", _EXPECTED, repr(given))
    require(not (parts.query or parts.fragment), "base-url", f"{_EXPECTED}, without ? and #", repr(given))
    return given if given.endswith(_PATH) else given + _PATH
