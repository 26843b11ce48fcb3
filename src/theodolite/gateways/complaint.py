"""Complaints: what a server says about a request that it does not answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Codes with which endpoints say that their own content filter stepped in."""

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that no waiting mends: there is no money left."""

_READ = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A server's words and the code that it gives them; both may be empty."""

    words: str
    code: str = ""

    @property
    def is_filter(self) -> bool:
        """Whether the endpoint's own content filter stepped in."""
        return self.code in FILTER_CODES

    @property
    def is_quota(self) -> bool:
        """Whether an account has nothing left to spend."""
        return self.code in QUOTA_CODES


def read_complaint(body: bytes) -> Complaint:
    """Return what the body of an answer complains about, however it is written."""
    try:
        found = json.loads(body[:_READ])
    except (ValueError, RecursionError):
        return Complaint(words=_plain_words(body[:_READ]))
    return complaint_in(found) or Complaint(words="")


def complaint_in(found: Any) -> Complaint | None:
    """Return the complaint that a parsed answer holds, or None where it holds none."""
    if not isinstance(found, Mapping):
        return None
    error = found.get("error", found)
    if isinstance(error, Mapping):
        words = next((error[key] for key in ("message", "detail", "title") if isinstance(error.get(key), str)), "")
        code = _filter_code(error)
        return Complaint(words=words, code=code) if words or code else None
    return Complaint(words=error) if isinstance(error, str) and error else None


def _filter_code(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    codes = (error.get("code"), inner.get("code") if isinstance(inner, Mapping) else None)
    given = [code for code in codes if isinstance(code, str)]
    return next((code for code in given if code in FILTER_CODES), next(iter(given), ""))


def _plain_words(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    return "with an HTML page" if text.startswith("<") else text
