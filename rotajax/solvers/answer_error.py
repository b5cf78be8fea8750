"""`AnswerError`: what a server's error says, whatever shape it has, and what follows from it."""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from rotajax.solvers.backoff import retry_after

# Characters of a server's message that are kept.
LONGEST = 300
_QUOTA = {
    "insufficient_quota",
    "quota_exceeded",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_exhausted",
    "insufficient_balance",
    "insufficient_credits",
    "insufficient_funds",
}
_QUOTA_TEXT = re.compile(r"credit balance is too low|insufficient (balance|credits?|funds)|hard limit .*reached", re.I)
_REFUSAL = {"content_filter", "content_policy_violation", "invalid_prompt", "moderation", "data_inspection_failed"}
_REFUSAL_TEXT = re.compile(r"content (management )?policy|flagged|moderation|safety system", re.I)
_TOO_LONG = {"context_length_exceeded", "string_above_max_length", "request_too_large"}
_TOO_LONG_TEXT = re.compile(
    r"(maximum|max)[\w ]* context|context (length|window)|prompt is too long|too many tokens", re.I
)
_MODEL = {"model_not_found", "invalid_model", "model_not_available"}
_MODEL_TEXT = re.compile(
    r"model\b.{0,80}(not exist|not found|not available|no access|is invalid)|(invalid|unknown|no such) model"
    r"|not a valid model",
    re.I,
)
# 408 and 425 say "again", 409 is a lock; 5xx and the 520s of gateways are the server's own trouble.
_AGAIN = {408, 409, 425, 429}


@dataclasses.dataclass(frozen=True)
class AnswerError:
    """An error answer: HTTP status, codes in lower case, the parameter it names, one line of text, seconds to wait."""

    status: int
    code: str
    param: str
    message: str
    wait: float | None  # seconds that the server asks to wait, None where it does not say

    @property
    def kind(self) -> str:
        """What it means: quota, key, model, address, refusal, too_long, rate_limit, server_error or bad_request."""
        codes = set(self.code.split())
        if self.status == 401:
            return "key"
        # A rate limit that some servers call a quota comes with the time after which it is over.
        exhausted = codes & _QUOTA or _QUOTA_TEXT.search(self.message)
        if self.status == 402 or (exhausted and self.status < 500 and not (self.status == 429 and self.wait)):
            return "quota"
        if self.status in (400, 403, 422) and (codes & _REFUSAL or _REFUSAL_TEXT.search(self.message)):
            return "refusal"
        if (
            self.status == 413
            or codes & _TOO_LONG
            or (self.status in (400, 422) and _TOO_LONG_TEXT.search(self.message))
        ):
            return "too_long"
        if self.status in _AGAIN:
            return "rate_limit" if self.status == 429 else "server_error"
        if self.status >= 500:
            return "server_error"
        if codes & _MODEL or _MODEL_TEXT.search(self.message):
            return "model"
        return {403: "key", 404: "address", 405: "address"}.get(self.status, "bad_request")

    @property
    def line(self) -> str:
        """The status, the code and the text in one line."""
        code = f" {self.code.split()[0]}" if self.code else ""
        return f"{self.status}{code}: {self.message or 'no text'}"


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> AnswerError:
    """Return what an error answer says.

    Read are {"error": {...}} and {"error": "text"}, a list of one of them, {"message": ...}, {"detail": ...}, and
    text that is no JSON.
    """
    try:
        document = json.loads(body)
    except ValueError:
        document = re.sub(r"<[^>]*>", " ", body[:4000].decode(errors="replace"))
    except RecursionError:
        document = ""
    if isinstance(document, list) and document:
        document = document[0]
    error: Any = document
    if isinstance(document, dict):
        error = document.get("error") or document.get("detail") or document
    param, codes, message = "", [], ""
    if isinstance(error, dict):
        param = error["param"] if isinstance(error.get("param"), str) else ""
        codes = [error[key] for key in ("code", "type", "status") if isinstance(error.get(key), str)]
        message = next((error[key] for key in ("message", "msg", "error", "detail") if error.get(key)), "")
        metadata = error.get("metadata")
        if isinstance(metadata, dict) and metadata.get("raw"):
            # Routers put the text of the server behind them here.
            message = f"{message} {metadata['raw']}"
    else:
        message = error
    text = message if isinstance(message, str) else json.dumps(message)
    return AnswerError(
        status=status,
        code=" ".join(codes).lower(),
        param=param,
        message=one_line(text),
        wait=retry_after(headers),
    )


def one_line(text: str) -> str:
    """Return text as one printable line of at most LONGEST characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 20 * LONGEST]).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
