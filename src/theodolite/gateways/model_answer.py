"""Model answers: what reading them has in common, whichever dialect they are in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.domain.flow import Reply
from theodolite.domain.model import Price
from theodolite.gateways.repair import repaired
from theodolite.gateways.trouble import Trouble, malformed
from theodolite.gateways.wire import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an answer holds.

    Attributes:
        text: The words.
        model: Name that the endpoint gave itself; anything, as it came.
        finish: Why the model stopped; anything, as it came.
        tokens_in: Tokens read; count, 0 where unknown.
        tokens_out: Tokens written; count, 0 where unknown.
    """

    text: str
    model: Any
    finish: Any
    tokens_in: int
    tokens_out: int


def reply_of(said: Said, answer: Answer, price: Price | None) -> Reply:
    """Return what an answer holds as a reply; without tokens there is no cost, not even 0."""
    known = price is not None and said.tokens_in + said.tokens_out > 0
    kept, n_repaired = repaired(said.text)
    return Reply(
        text=kept,
        answered_as=word(said.model),
        finish=word(said.finish),
        tokens_in=said.tokens_in,
        tokens_out=said.tokens_out,
        cost_microusd=price.cost_microusd(said.tokens_in, said.tokens_out) if price is not None and known else None,
        latency_s=answer.latency_s,
        attempts=answer.attempts,
        repaired=n_repaired,
    )


def parsed_object(answer: Answer, *, expected: str) -> Mapping[str, Any] | Trouble:
    """Return the JSON object that an answer holds, or what it holds instead."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return malformed("the answer is not JSON" + _page(answer.body))
    if not isinstance(found, Mapping):
        return malformed(f"the answer is a JSON {type(found).__name__}; expected {expected}")
    return found


def _page(body: bytes) -> str:
    return " but an HTML page" if body.lstrip()[:1] == b"<" else ""


def word(value: Any) -> str:
    """Return a short text that an endpoint gave itself; empty where it is none."""
    return repaired(value)[0][:200] if isinstance(value, str) else ""


def token_count(found: Mapping[str, Any], key: str) -> int:
    """Return a number of an answer's `usage`; 0 where it is not there or cannot be true."""
    usage = found.get("usage")
    count = usage.get(key) if isinstance(usage, Mapping) else None
    plausible = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31
    return count if plausible and isinstance(count, int) else 0
