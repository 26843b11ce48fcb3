"""The driver: answers the requests of a flow from its journal first, then through clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from theodolite.domain.errors import GatewayError, ReplayError, TemplateError
from theodolite.domain.failure import Failure
from theodolite.domain.flow import Flow, Reply, Request
from theodolite.domain.identity import version_of
from theodolite.domain.replay import JournalEntry, Waiting, advance, answered_by, begin
from theodolite.domain.run import Unit
from theodolite.execution.clients import Clients
from theodolite.execution.failures import failure_of
from theodolite.ports.store import Journal

Result = TypeVar("Result")


async def drive(
    flow: Flow[Result], unit: Unit, stored: Sequence[JournalEntry], *, clients: Clients, journal: Journal
) -> Result | Failure:
    """Run a flow to its end.

    Each reply is stored before the next request, so a killed process loses
    at most the calls in flight.

    Args:
        flow: A flow that has not been started.
        unit: The unit of work of the flow.
        stored: The journal of the unit so far, in order of position.
        clients: Answer the requests that the journal does not.
        journal: Stores new replies.

    Returns:
        The result of the flow, or the failure that ended it.

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
            reply = await clients.answer(request, unit.key)
            if not reply.recorded:  # its file is its journal
                await journal.append(unit.key, _entry(state, reply, clients))
            state = advance(flow, state, reply)
    except (GatewayError, ReplayError, TemplateError) as error:
        return failure_of(unit, error, request)
    return state.result


def _entry(state: Waiting, reply: Reply, clients: Clients) -> JournalEntry:
    unreported_cost = clients.stop_conditions.unreported_cost(state.request, reply)
    return JournalEntry(
        position=state.position,
        request_hash=version_of(state.request),
        reply=reply,
        estimated_tokens=unreported_cost.estimated_tokens,
        estimated_microusd=unreported_cost.estimated_microusd,
    )
