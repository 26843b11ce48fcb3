"""Replay: feeding stored replies into a fresh flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from theodolite.domain.errors import ReplayError
from theodolite.domain.flow import Flow, Reply, Request
from theodolite.domain.identity import version_of

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One reply as it was stored.

    Attributes:
        position: Place among the unit's replies, from 0.
        request_hash: Content hash of the request; 64 hexadecimal digits.
        reply: What came back.
        estimated_tokens: Tokens that it must have taken, where it tells none; count.
        estimated_microusd: What these cost at a known price; millionths of a US dollar.
    """

    position: int
    request_hash: str
    reply: Reply
    estimated_tokens: int = 0
    estimated_microusd: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A flow that has used up its journal and waits for a reply.

    Attributes:
        position: Place of the awaited reply, from 0.
        request: What it asks for.
    """

    position: int
    request: Request


@dataclass(frozen=True, slots=True)
class Returned(Generic[Result]):
    """A flow that has come to its end."""

    result: Result


def begin(flow: Flow[Result]) -> Waiting | Returned[Result]:
    """Start a flow and return its first request, or its result."""
    return _step(flow, None, -1)


def advance(flow: Flow[Result], waiting: Waiting, reply: Reply) -> Waiting | Returned[Result]:
    """Give a flow the reply it waits for and return what it does next."""
    return _step(flow, reply, waiting.position)


def replay(flow: Flow[Result], journal: Sequence[JournalEntry]) -> Waiting | Returned[Result]:
    """Bring a fresh flow to where its journal ends.

    Args:
        flow: A flow that has not been started.
        journal: The unit's replies in order of position.

    Raises:
        ReplayError: If an entry answers another request than the flow makes.
    """
    state = begin(flow)
    for entry in journal:
        state = advance(flow, answered_by(entry, state), entry.reply)
    return state


def answered_by(entry: JournalEntry, state: Waiting | Returned[Result]) -> Waiting:
    """Return the state of a flow if a journal entry answers what it waits for.

    Raises:
        ReplayError: If the entry answers another request, or the flow has ended.
    """
    if isinstance(state, Returned):
        message = f"the journal holds a reply at position {entry.position}, but the flow has ended"
        raise ReplayError(message)
    if entry.position != state.position or entry.request_hash != version_of(state.request):
        message = (
            f"the journal's reply at position {entry.position} answers another request than the one made now; "
            "the study or the program changed in between"
        )
        raise ReplayError(message)
    return state


def _step(flow: Flow[Result], reply: Reply | None, position: int) -> Waiting | Returned[Result]:
    try:
        request = next(flow) if reply is None else flow.send(reply)
    except StopIteration as end:
        return Returned(end.value)
    return Waiting(position + 1, request)
