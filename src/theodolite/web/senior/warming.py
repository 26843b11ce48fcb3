"""Warming: figures that take a while are worked out once when the server begins, before anybody waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections
from django.db.models import Max

from theodolite.annotation.agreement import agreement, orders
from theodolite.annotation.quality import from_above, to_review
from theodolite.domain.errors import TheodoliteError
from theodolite.store.annotating.queues import queue_of
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.annotator.desk import library

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
        for queue in _in_use():
            _read(queue, over)
    except (TheodoliteError, DatabaseError) as error:
        _LOG.warning("figures of a queue could not be worked out ahead: %s", error)
    close_old_connections()


def _in_use() -> list[str]:
    submitted = ReservationRow.objects.filter(submitted__isnull=False).values_list("item__queue__token")
    latest = submitted.annotate(last=Max("submitted")).order_by("-last")[:MOST_QUEUES]
    return [token for token, _ in latest]


def _read(queue: str, over: Event) -> None:
    for category in library().design(queue_of(queue).design_id).categories:
        if over.is_set():
            return
        agreement(library(), queue, category.name)
        orders(library(), queue, category.name)
    from_above(library(), queue)
    to_review(library(), queue)
