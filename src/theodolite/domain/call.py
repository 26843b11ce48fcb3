"""Calls: what was sent for a piece of work, what came back, and what it took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theodolite.domain.flow import Message, Reply
from theodolite.domain.run import Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request and its reply, as people may read them.

    Attributes:
        reply: What came back.
        prompt: The chat that was sent, empty where none was; None where it cannot
            be told any more, since only its hash is kept and the words have changed.
    """

    reply: Reply
    prompt: tuple[Message, ...] | None = ()


def spent_on(calls: Iterable[Call]) -> Spending:
    """Return what calls have cost, by the rules of a run's spending."""
    return sum((_spent(call.reply) for call in calls), Spending())


def _spent(reply: Reply) -> Spending:
    from_a_model = bool(reply.tokens_in or reply.tokens_out or reply.finish)
    return Spending(
        calls=int(reply.attempts > 0),
        attempts=reply.attempts,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_microusd=reply.cost_microusd or 0,
        unpriced_calls=int(reply.cost_microusd is None and not reply.scripted and from_a_model),
    )
