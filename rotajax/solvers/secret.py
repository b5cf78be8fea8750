"""`Secret`: a key that is taken from the environment, sent in one header, and shown nowhere."""

import os

from rotajax.checks import require

# The first of these that is set is the key.
KEY_NAMES = ("ROTAJAX_API_KEY", "OPENAI_API_KEY")
HIDDEN = "***"
# A shorter key, such as "x" for a local server, is no secret, and would blot out ordinary words.
SECRET_LENGTH = 8


class Secret:
    """A key. Its repr and its str are hidden and it cannot be pickled, so that no log, error or file gets it."""

    __slots__ = ("__value",)

    def __init__(self, value: str):
        # The message must not show the key.
        require(
            value.isascii() and value.isprintable() and " " not in value, "key", "printable ASCII", "something else"
        )
        self.__value = value

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")

    def header(self) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"Authorization": f"Bearer {self.__value}"}

    def scrub(self, body: bytes) -> bytes:
        """Return what a server sent without the key: some repeat it in their errors."""
        value = self.__value.encode()
        return body.replace(value, HIDDEN.encode()) if len(value) >= SECRET_LENGTH and value in body else body


def key_from_environment(names: tuple[str, ...] = KEY_NAMES) -> Secret | None:
    """Return the key of the first variable that is set and not empty; None where none is: local servers need none."""
    value = next((os.environ[name].strip() for name in names if os.environ.get(name, "").strip()), None)
    return None if value is None else Secret(value)
