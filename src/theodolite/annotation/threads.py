"""Threads."""

from __future__ import annotations

from django.db import transaction

from theodolite.annotation.records import RecordCache
from theodolite.domain.annotating.discrepancy import Anchor, FeedbackThread, ThreadEnd
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.store.annotation_queue import (
    add_post,
    has_begun,
    new_token,
    own_reservation,
    queue_of,
    thread_row,
    threads_of,
)
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import PostRow, ThreadRow

PAGE = 20
"""Threads on one page of the list; count."""


def begin_thread(records: RecordCache, queue: str, participant: str, anchor: Anchor, text: str) -> str:
    """Begin a thread and return its token.

    Raises:
        InputError: If there is no text, or the queue has no such category.
        NotFound: If it hangs on a reservation that is not one's own.
    """
    row = queue_of(queue)
    category = records.design(row.design_id).category(anchor.category)
    if category is None or not text.strip():
        message = f"a thread needs a category of the queue and some words; got {anchor.category!r} and {text!r}"
        raise InputError(message)
    reservation = own_reservation(anchor.reservation, participant) if anchor.reservation else None
    with transaction.atomic():
        thread = ThreadRow.objects.create(
            token=new_token(),
            queue=row,
            reservation=reservation,
            kind=anchor.kind.value,
            category=anchor.category,
            version=reservation.item.version if reservation else category.version,
            question=anchor.question,
            turn=anchor.turn,
            created=database_now(),
        )
        add_post(thread, participant, text)
    return str(thread.token)


def reply(token: str, participant: str, text: str, *, senior: bool = False) -> None:
    """Add to a thread: to one's own, or to any as a senior.

    Raises:
        Conflict: If it has ended.
        InputError: If there is no text.
        NotFound: If there is none, or it is not one's own.
    """
    if not text.strip():
        message = "a post cannot be empty"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"thread {token}")
        thread = thread_row(token)
        if not senior and not has_begun(thread, participant):
            message = f"no thread has the token `{token}` for this annotator"
            raise NotFound(message)
        if thread.end:
            message = "this thread is resolved; start another one"
            raise Conflict(message)
        add_post(thread, participant, text)


def end_thread(token: str, end: ThreadEnd, *, by: str, text: str = "") -> None:
    """End a thread as a senior: into guideline text, into the list of questions, or without a change.

    Raises:
        Conflict: If it has ended before.
        InputError: If it should change the guideline or the list, and there is no text.
    """
    if end is not ThreadEnd.NOTHING and not text.strip():
        message = f"a text is required to resolve a thread as `{end.value}`"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"thread {token}")
        thread = thread_row(token)
        if thread.end:
            message = f"this thread is already resolved as `{thread.end}`"
            raise Conflict(message)
        thread.end, thread.text, thread.by, thread.ended = end.value, text.strip(), by, database_now()
        thread.save()


def own_threads(queue: str, participant: str) -> list[FeedbackThread]:
    """Return the threads that an annotator has begun, the latest first."""
    begun = PostRow.objects.filter(thread__queue__token=queue, participant__key=participant)
    rows = ThreadRow.objects.filter(id__in=begun.values("thread_id"), queue__token=queue).order_by("-id")
    return [thread for thread in threads_of(list(rows), participant) if thread.posts[0].is_own]


def thread_page(queue: str, participant: str = "", *, is_open: bool = True, page: int = 0) -> list[FeedbackThread]:
    """Return one page of the threads of a queue that are open, or have ended, for seniors, the latest first."""
    rows = ThreadRow.objects.filter(queue__token=queue).order_by("-id")
    rows = rows.filter(end="") if is_open else rows.exclude(end="")
    return threads_of(list(rows[page * PAGE : (page + 1) * PAGE]), participant)


def n_threads(queue: str) -> tuple[int, int]:
    """Return how many threads of a queue are open, and how many have ended; counts."""
    rows = ThreadRow.objects.filter(queue__token=queue)
    n_open = rows.filter(end="").count()
    return n_open, rows.count() - n_open


def is_thread_of(queue: str, token: str) -> bool:
    """Tell whether a thread belongs to a queue."""
    return ThreadRow.objects.filter(queue__token=queue, token=token).exists()


def settled(queue: str, *, end: ThreadEnd = ThreadEnd.FAQ, category: str = "") -> list[tuple[str, str]]:
    """Return category and text of what threads led to, for everybody; nothing in it tells of a dialogue or person."""
    rows = ThreadRow.objects.filter(queue__token=queue, end=end.value).order_by("id")
    return list((rows.filter(category=category) if category else rows).values_list("category", "text"))


def settled_threads(queue: str, end: ThreadEnd) -> list[FeedbackThread]:
    """Return the threads that led to guideline text or the list of questions, for seniors, the first first."""
    rows = ThreadRow.objects.filter(queue__token=queue, end=end.value).order_by("id")
    return threads_of(list(rows), "")
