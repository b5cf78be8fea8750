"""Authors and licences of the folders of an icon collection, read from its `license.txt`."""

import re
from dataclasses import dataclass
from pathlib import Path

NAME = "license.txt"
CC_BY, CC0, UNLISTED = "CC BY 3.0", "CC0", "unlisted"
MAX_BYTES = 1 << 20
# Folders named otherwise than the list names their author, in the game-icons collection.
ALIASES = {"lucasms": "lucas"}


@dataclass(frozen=True, kw_only=True)
class Credit:
    """An author as listed, and the licence of the folder: "CC BY 3.0", "CC0" or "unlisted"."""

    author: str
    licence: str


def read_licences(folder: Path) -> dict[str, Credit]:
    """Return the credits that `folder`/license.txt lists, keyed as `key` spells a name; {} without that file.

    A line `- Name, address` lists the author of the sub-folder of the same name (letters and digits
    compared, case ignored) under CC BY 3.0, or under CC0 where the line ends in `- CC0`. Raises ValueError for
    a file that cannot be read as UTF-8 text, and for one that lists the same name twice.
    """
    path = Path(folder) / NAME
    if not path.exists():
        return {}
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("more than 1 MiB")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"icons.licence: expected UTF-8 text in '{path}', got {error}") from None
    credits: dict[str, Credit] = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\s*-\s+([^,]+?)\s*(?:,.*?)?(\s-\s+CC0)?\s*", line)
        if match is None:
            continue
        credit = Credit(author=match[1], licence=CC0 if match[2] else CC_BY)
        if key(credit.author) in credits:
            raise ValueError(f"icons.licence: expected every author once in '{path}', got {credit.author!r} twice")
        credits[key(credit.author)] = credit
    return credits


def key(name: str) -> str:
    """Return the letters and digits of a name, small: what a folder and a listed author have in common.

    >>> key("Viscious Speed") == key("viscious-speed")
    True
    """
    return re.sub(r"[\W_]", "", name.lower())


def credit(path: str, credits: dict[str, Credit]) -> Credit:
    """Return the credit of the icon at `path`, relative to the collection, with / between its parts.

    The first folder names the author. A file beside license.txt belongs to the author listed there if there
    is only one. Everything else is "unlisted", with the folder's name (or "") as author.
    """
    folder = path.split("/")[0] if "/" in path else ""
    if not folder and len(credits) == 1:
        return next(iter(credits.values()))
    name = ALIASES.get(folder, folder)
    return credits.get(key(name)) or Credit(author=folder, licence=UNLISTED)
