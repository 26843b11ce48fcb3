"""Sessions that nobody will end: ended here, so that what was said in them counts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import Http404

from theodolite.domain.errors import TheodoliteError
from theodolite.domain.people.session import SessionState
from theodolite.usecases.people.abandoned import end_abandoned, is_abandoned
from theodolite.web.audit import audit
from theodolite.web.departures import hang_up
from theodolite.web.models import HostedStudy
from theodolite.web.venues import server_store, venue_of

EVERY_S = 60
"""Time between two looks; seconds."""

_LOG = logging.getLogger(__name__)


def end_sessions(hosted: HostedStudy, *, whether_abandoned_or_not: bool) -> int:
    """End sessions of an event that go on, and return how many.

    Args:
        hosted: The event.
        whether_abandoned_or_not: All of them, as when the event closes; else those alone
            whose time was up a while ago.
    """
    ended = 0
    for session in server_store().sessions(hosted.name):
        if session.state is SessionState.ACTIVE:
            venue = venue_of(hosted, session.edition)
            if whether_abandoned_or_not or is_abandoned(venue, session):
                hang_up(hosted, session)
                end_abandoned(venue, session)
                ended += 1
    if ended:
        audit(None, "ended sessions", f"study {hosted.token}", hosted=hosted, n=ended)
    return ended


@asynccontextmanager
async def sweeping() -> AsyncIterator[None]:
    """Look for abandoned sessions now and then, as long as the server lives."""
    task = asyncio.create_task(_sweep_now_and_then())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _sweep_now_and_then() -> None:
    while True:
        await asyncio.sleep(EVERY_S)
        await sync_to_async(sweep, thread_sensitive=False)()


def sweep() -> None:
    """Look once, at every event; what goes wrong with one is nobody else's business."""
    close_old_connections()
    for hosted in HostedStudy.objects.exclude(folder="").exclude(state=HostedStudy.State.DRAFT):
        try:
            end_sessions(hosted, whether_abandoned_or_not=False)
        except (TheodoliteError, Http404) as error:
            _LOG.warning("sessions of a study could not be looked at: %s", error)
    close_old_connections()
