"""The repository of calibration sessions: rooms, votes and posts."""

from __future__ import annotations

from theodolite.domain.annotating.thread import Post
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import NotFound
from theodolite.store.models.annotating import RoomPostRow, RoomRow, RoomVoteRow


def room_row(token: str) -> RoomRow:
    """Return the row of a room.

    Raises:
        NotFound: If there is none under that token.
    """
    row = RoomRow.objects.filter(token=token).select_related("queue", "dialogue").first()
    if row is None:
        message = f"no room has the token `{token}`"
        raise NotFound(message)
    return row


def answer_of(row: RoomVoteRow) -> Answer:
    """Return a vote as an answer."""
    return Answer(
        question=row.question,
        outcome=Outcome(row.outcome),
        value=row.value,
        turn=row.turn or None,
        reasoning=row.reasoning,
    )


def posts_in(row: RoomRow, participant: str) -> tuple[Post, ...]:
    """Return the posts of a room, for the eyes of one participant."""
    found = RoomPostRow.objects.filter(room=row).select_related("participant").order_by("id")
    return tuple(
        Post(author=one.participant.key, text=one.text, at=one.created, is_own=one.participant.key == participant)
        for one in found
    )
