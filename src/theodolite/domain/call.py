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
    replies = [call.reply for call in calls]
    return Spending(
        calls=sum(reply.attempts > 0 for reply in replies),
        attempts=sum(reply.attempts for reply in replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        cost_microusd=sum(reply.cost_microusd or 0 for reply in replies),
        unpriced_calls=sum(_is_unpriced(reply) for reply in replies),
    )


def _is_unpriced(reply: Reply) -> bool:
    from_a_model = bool(reply.tokens_in or reply.tokens_out or reply.finish)
    return reply.cost_microusd is None and not reply.scripted and from_a_model
