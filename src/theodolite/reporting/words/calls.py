"""Calls in words: what was sent, what came back, and what it took."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.call import Call, spent_on
from theodolite.domain.flow import Message
from theodolite.domain.money import cost_text
from theodolite.reporting.words import figures

PROMPT_CHANGED = "not shown: only its hash was kept, and the words by which judges are asked have changed since"
"""What stands in place of a prompt that cannot be made again."""


def spent_text(calls: Sequence[Call]) -> str:
    """Return what calls took in words, e.g. `2 calls, 1,204 tokens in, 88 out, $0.00041`; empty where none was made.

    Replies from the response cache count as calls that cost nothing. Replies that
    a recorded file gave are no calls.
    """
    spent = spent_on(calls)
    cached = sum(call.reply.cached and bool(call.reply.finish) for call in calls)
    if not spent.calls and not cached:
        return ""
    parts = [figures.number_of(spent.calls, "call")]
    parts += [f"{figures.number_of(cached, 'reply', 'replies')} from the cache"] if cached else []
    parts += [f"{figures.number_of(spent.attempts, 'attempt')}"] if spent.attempts > spent.calls else []
    if spent.tokens_in or spent.tokens_out:
        parts.append(f"{figures.number_of(spent.tokens_in, 'token')} in, {figures.count(spent.tokens_out)} out")
    if spent.cost_microusd:
        parts.append(cost_text(spent.cost_microusd))
    if spent.unpriced_calls:
        parts.append(f"{figures.number_of(spent.unpriced_calls, 'call')} without a known price")
    return ", ".join(parts)


def reply_text(call: Call) -> str:
    """Return a reply as it came, or why it is not there."""
    return call.reply.text or f"({f'withheld: {call.reply.withheld}' if call.reply.withheld else 'empty'})"


def prompt_text(prompt: Sequence[Message]) -> str:
    """Return a chat as one text, each message under the name of its speaker."""
    return "\n\n".join(f"[{message.speaker.value}]\n{message.text}" for message in prompt)


def call_texts(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Return what was sent and what came back, call by call, each with a name."""
    texts: list[tuple[str, str]] = []
    for number, call in enumerate(calls, start=1):
        if call.prompt is None:
            texts.append((f"prompt {number}", PROMPT_CHANGED))
        elif call.prompt:
            texts.append((f"prompt {number}", prompt_text(call.prompt)))
        texts.append((f"reply {number}", reply_text(call)))
    return texts
