"""The driver: answers a flow's requests from its journal first, then from the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from theodolite.domain.errors import GatewayError, ReplayError, TemplateError
from theodolite.domain.failure import Failure
from theodolite.domain.flow import Flow, Reply, Request
from theodolite.domain.identity import version_of
from theodolite.domain.replay import JournalEntry, Waiting, advance, answered_by, begin
from theodolite.domain.run import Unit
from theodolite.execution.failing import failure_of
from theodolite.execution.lines import Lines
from theodolite.ports.store import Journal

Result = TypeVar("Result")


async def drive(
    flow: Flow[Result], unit: Unit, stored: Sequence[JournalEntry], *, lines: Lines, journal: Journal
) -> Result | Failure:
    """Bring a flow to its end.

    Every reply is stored before the next request is made, so that a process
    that dies loses at most the calls that were in flight.

    Args:
        flow: A flow that has not been started.
        unit: The unit of work that it is.
        stored: The unit's journal so far, in order of position.
        lines: Answers what the journal does not.
        journal: Where new replies go.

    Returns:
        What the flow returns, or the failure that ended it.

    Raises:
        RunStopped: If the run stops before the flow ends.
        StoreError: If a reply could not be stored.
    """
    request: Request | None = None
    try:
        state = begin(flow)
        for entry in stored:
            waiting = answered_by(entry, state)
            request = waiting.request
            state = advance(flow, waiting, entry.reply)
        while isinstance(state, Waiting):
            request = state.request
            reply = await lines.answer(request, unit.key)
            if not reply.recorded:  # its file is its journal
                await journal.append(unit.key, _entry(state, reply, lines))
            state = advance(flow, state, reply)
    except (GatewayError, ReplayError, TemplateError) as error:
        return failure_of(unit, error, request)
    return state.result


def _entry(state: Waiting, reply: Reply, lines: Lines) -> JournalEntry:
    supposed = lines.brakes.supposed(state.request, reply)
    return JournalEntry(
        position=state.position,
        request_hash=version_of(state.request),
        reply=reply,
        supposed_tokens=supposed.supposed_tokens,
        supposed_microusd=supposed.supposed_microusd,
    )
