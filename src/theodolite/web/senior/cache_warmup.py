"""Compute figures once when the server starts, before anybody waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections

from theodolite.annotation import queues
from theodolite.annotation.agreement import agreement, orders
from theodolite.annotation.quality import from_above, to_review
from theodolite.domain.errors import TheodoliteError
from theodolite.web.annotator.context import records

MOST_QUEUES = 4
"""Queues whose figures are worked out ahead, those in which somebody submitted last; count."""

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def warming() -> AsyncIterator[None]:
    """Work figures out beside the first requests; the server's end waits for one category at most."""
    over = Event()
    task = asyncio.create_task(sync_to_async(warm, thread_sensitive=False)(over))
    try:
        yield
    finally:
        over.set()
        await task


def warm(over: Event) -> None:
    """Read the answers of the queues in use; what goes wrong with one is told to whoever opens its page.

    Args:
        over: Says when nobody will ask any more.
    """
    close_old_connections()
    try:
        for queue in queues.last_active_queues(MOST_QUEUES):
            _read(queue, over)
    except (TheodoliteError, DatabaseError) as error:
        _LOG.warning("figures of a queue could not be worked out ahead: %s", error)
    close_old_connections()


def _read(queue: str, over: Event) -> None:
    for category in queues.design_of(records(), queue).categories:
        if over.is_set():
            return
        agreement(records(), queue, category.name)
        orders(records(), queue, category.name)
    from_above(records(), queue)
    to_review(records(), queue)
