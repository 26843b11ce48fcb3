"""Model answers: what reading them has in common, whichever dialect they are in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from theodolite.domain.flow import Reply
from theodolite.domain.model import Price
from theodolite.domain.run import Spending
from theodolite.gateways.attempt_error import AttemptError, empty, malformed, unreadable
from theodolite.gateways.http.client import HttpResponse
from theodolite.gateways.models.reasoning import spoken
from theodolite.gateways.sanitize import repaired


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidByModel:
    """What an answer holds.

    Attributes:
        text: The words, or why there are none.
        model: Name that the endpoint gave itself; anything, as it came.
        finish: Why the model stopped; anything, as it came.
        tokens_in: Tokens read; count, 0 where unknown.
        tokens_out: Tokens written; count, 0 where unknown.
    """

    text: str | AttemptError
    model: Any
    finish: Any
    tokens_in: int
    tokens_out: int


def words_in(text: str, *, is_cut: bool, asks_for_tool: bool) -> str | AttemptError:
    """Return the words of a reply without the thoughts before them, or why there are none.

    Args:
        text: What it holds.
        is_cut: Whether the limit of tokens ended it.
        asks_for_tool: Whether it wants a tool to be called.
    """
    words = spoken(text)
    if words.strip():
        return words
    if is_cut:
        return empty("the reply holds no text: the token limit was reached first")
    if text.strip():
        return empty("the reply holds thoughts and no text after them")
    return empty("it asked for a tool instead of answering") if asks_for_tool else empty()


def reply_of(said: SaidByModel, answer: HttpResponse, price: Price | None) -> Reply | AttemptError:
    """Return what an answer holds as a reply; without tokens there is no cost, not even 0.

    An answer without words is a failed attempt that says what it has cost.
    """
    n_tokens = said.tokens_in + said.tokens_out
    cost = price.cost_microusd(said.tokens_in, said.tokens_out) if price is not None and n_tokens else None
    if isinstance(said.text, AttemptError):
        return replace(said.text, spent=_spent(said, cost))
    kept, n_repaired = repaired(said.text)
    return Reply(
        text=kept,
        answered_as=word(said.model),
        finish=word(said.finish),
        tokens_in=said.tokens_in,
        tokens_out=said.tokens_out,
        cost_microusd=cost,
        latency_s=answer.latency_s,
        attempts=answer.attempts,
        repaired=n_repaired,
    )


def _spent(said: SaidByModel, cost: int | None) -> Spending:
    is_unpriced = cost is None and said.tokens_in + said.tokens_out > 0
    return Spending(
        tokens_in=said.tokens_in,
        tokens_out=said.tokens_out,
        cost_microusd=cost or 0,
        unpriced_calls=int(is_unpriced),
    )


def parsed_object(answer: HttpResponse, *, expected: str) -> Mapping[str, Any] | AttemptError:
    """Return the JSON object that an answer holds, or what it holds instead."""
    try:
        found = _parsed(answer.body)
    except (ValueError, RecursionError):
        return unreadable(
            "the answer is not JSON" + _page(answer.body) if answer.body.strip() else "the answer is empty"
        )
    if not isinstance(found, Mapping):
        return malformed(f"the answer is a JSON {type(found).__name__}; expected {expected}")
    return found


def _parsed(body: bytes) -> Any:
    """Return what JSON holds; nearly all is UTF-8, so that its encoding is looked for only where that does not fit."""
    try:
        return json.loads(body.decode())
    except ValueError:
        return json.loads(body)


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
