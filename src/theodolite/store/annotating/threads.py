"""The repository of threads and their posts."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotating.thread import Anchor, AnchorKind, FeedbackThread, Post, ThreadEnd
from theodolite.domain.errors import NotFound
from theodolite.store.annotating.reservations import participant_id
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import PostRow, ThreadRow
from theodolite.store.reading import grouped


def thread_row(token: str) -> ThreadRow:
    """Return the row of a thread.

    Raises:
        NotFound: If there is none under that token.
    """
    row = ThreadRow.objects.filter(token=token).first()
    if row is None:
        message = f"no thread has the token `{token}`"
        raise NotFound(message)
    return row


def has_begun(thread: ThreadRow, participant: str) -> bool:
    """Return whether a participant began a thread."""
    first = PostRow.objects.filter(thread=thread).order_by("id").values_list("participant__key", flat=True).first()
    return first == participant


def add_post(thread: ThreadRow, participant: str, text: str) -> None:
    """Add a post to a thread."""
    PostRow.objects.create(
        thread=thread, participant_id=participant_id(participant), text=text.strip(), created=database_now()
    )


def threads_of(rows: Sequence[ThreadRow], participant: str) -> list[FeedbackThread]:
    """Return threads as records, for the eyes of one participant."""
    posts = PostRow.objects.filter(thread__in=rows).select_related("participant").order_by("id")
    by_thread = grouped(posts, "thread_id")
    tokens = dict(ThreadRow.objects.filter(id__in=[row.pk for row in rows]).values_list("id", "reservation__token"))
    return [_record(row, by_thread.get(row.pk, []), tokens[row.pk] or "", participant) for row in rows]


def _record(row: ThreadRow, posts: Sequence[PostRow], reservation: str, participant: str) -> FeedbackThread:
    return FeedbackThread(
        token=row.token,
        anchor=Anchor(
            kind=AnchorKind(row.kind),
            category=row.category,
            question=row.question,
            turn=row.turn,
            reservation=reservation,
        ),
        version=row.version,
        posts=tuple(
            Post(author=one.participant.key, text=one.text, at=one.created, is_own=one.participant.key == participant)
            for one in posts
        ),
        end=ThreadEnd(row.end) if row.end else None,
        text=row.text,
    )
