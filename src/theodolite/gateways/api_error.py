"""Errors: what a server says about a request that it does not answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Codes with which endpoints say that their own content filter stepped in."""

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that no waiting mends: there is no money left."""

_STATUSES = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
}
"""Names of errors to the HTTP statuses that stand for them elsewhere.

Sources: Anthropic, "Errors", documentation of the Claude API; OpenAI, "Error codes", API documentation.
"""

_READ = 65_536
_NUMBER = re.compile(r"[45]\d\d")

_WORDS_AT = ("message", "detail", "title", "msg")
"""Fields in which servers put their words, the usual ones first."""

_DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """What a server says is wrong; all of it may be empty.

    Attributes:
        words: Its words.
        code: The code that it gives them.
        status: The HTTP status that they amount to, for answers whose own status says otherwise; 0 where unknown.
    """

    words: str
    code: str = ""
    status: int = 0

    @property
    def is_filter(self) -> bool:
        """Whether the endpoint's own content filter stepped in."""
        return self.code in FILTER_CODES

    @property
    def is_quota(self) -> bool:
        """Whether an account has nothing left to spend."""
        return self.code in QUOTA_CODES


def read_api_error(body: bytes) -> ApiError:
    """Return what the body of an answer complains about, however it is written."""
    try:
        found = json.loads(body[:_READ])
    except (ValueError, RecursionError):
        return ApiError(words=_plain_words(body[:_READ]))
    return api_error_in(found) or ApiError(words="")


def api_error_in(found: Any) -> ApiError | None:
    """Return the error that a parsed answer holds, or None where it holds none."""
    if isinstance(found, list) and len(found) == 1:  # some servers put their one object into a list
        found = found[0]
    if not isinstance(found, Mapping):
        return None
    error = found.get("error", found)
    words = _words(error)
    if not isinstance(error, Mapping):
        return ApiError(words=words) if words else None
    code = _filter_code(error)
    return ApiError(words=words, code=code, status=_status(error)) if words or code else None


def _words(said: Any, depth: int = _DEPTH) -> str:
    """Return what is said, wherever it stands; of a list of faults each with its place."""
    if isinstance(said, str):
        return said
    if not depth:
        return ""
    if isinstance(said, list):
        return "; ".join(filter(None, (_words(one, depth - 1) for one in said)))
    if not isinstance(said, Mapping):
        return ""
    words = next(filter(None, (_words(said.get(key), depth - 1) for key in _WORDS_AT)), "")
    place = said.get("loc")
    return f"{'.'.join(map(str, place))}: {words}" if words and isinstance(place, list) else words


def _status(error: Mapping[str, Any]) -> int:
    """Return the status that an error names in a number or by its type."""
    names = [str(error.get(key)) for key in ("code", "type")]
    numbers = (int(name) for name in names if _NUMBER.fullmatch(name))
    return next(numbers, next((_STATUSES[name] for name in names if name in _STATUSES), 0))


def _filter_code(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    codes = (error.get("code"), inner.get("code") if isinstance(inner, Mapping) else None)
    given = [code for code in codes if isinstance(code, str)]
    return next((code for code in given if code in FILTER_CODES), next(iter(given), ""))


def _plain_words(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    return "with an HTML page" if text.startswith("<") else text
