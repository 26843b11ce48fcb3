"""Calibration sessions: vote blindly, reveal, discuss, vote again."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import letters_for
from theodolite.assessment.blinding import blind_name, blinded, mask_for
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.redacting import redacted
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotating.room import CalibrationRoom, RoomShift, RoomState
from theodolite.domain.annotation import Answer
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.instrument import OpenQuestion
from theodolite.store.annotating.queues import item_row, new_token, participant_id, queue_of
from theodolite.store.annotating.reviews import answer_of, posts_in, redactions_of, room_row
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import RoomPostRow, RoomRow, RoomVoteRow

BLIND, AFTERWARDS = 1, 2
"""Numbers of the two ballots."""


def open_room(records: RecordCache, queue: str, dialogue: str, category: str, *, by: str) -> str:
    """Open a room on one dialogue and return its token; whoever votes in it never gets that dialogue as work.

    Raises:
        InputError: If the queue has no such category.
        NotFound: If the dialogue was never kept.
    """
    row = queue_of(queue)
    named = records.design(row.design_id).category(category)
    held = DialogueRow.objects.filter(unit__key=dialogue).first()
    if named is None:
        message = f"the queue has no category {category!r}"
        raise InputError(message)
    if held is None:
        message = f"no dialogue is stored under the key {dialogue}"
        raise NotFound(message)
    made = RoomRow.objects.create(
        token=new_token(),
        queue=row,
        dialogue=held,
        category=category,
        version=named.version,
        by=by,
        created=database_now(),
    )
    return str(made.token)


def open_room_on(records: RecordCache, item: str, *, by: str) -> str:
    """Open a room on the dialogue of a work item and return its token; see `open_room`."""
    row = item_row(item)
    return open_room(records, row.queue.token, row.dialogue.unit.key, row.category, by=by)


def vote(records: RecordCache, token: str, participant: str, answers: Sequence[Answer]) -> tuple[OpenQuestion, ...]:
    """Cast or change one's votes; return the questions that are open, in which case nothing was stored.

    Before the votes are revealed they are blind ones; after that they are those that follow the discussion,
    and only people who voted blindly may give them.

    Raises:
        Conflict: If the room is closed, or one has not voted before the reveal.
    """
    with transaction.atomic():
        one_at_a_time(f"room {token}")
        row = room_row(token)
        if row.state == RoomState.CLOSED.value:
            message = "this session is closed; its votes can no longer change"
            raise Conflict(message)
        dialogue, guideline = records.dialogue(row.dialogue.unit_id), records.guideline(row.version)
        if left := open_questions(guideline.instrument, answers, [turn.number for turn in dialogue.turns]):
            return left
        ballot = BLIND if row.state == RoomState.VOTING.value else AFTERWARDS
        _cast(row, participant, ballot, answers)
    return ()


def _cast(row: RoomRow, participant: str, ballot: int, answers: Sequence[Answer]) -> None:
    votes = RoomVoteRow.objects.filter(room=row, participant__key=participant)
    if ballot == AFTERWARDS and not votes.filter(ballot=BLIND).exists():
        message = "the votes are revealed; only participants who voted before can change their votes"
        raise Conflict(message)
    votes.filter(ballot=ballot).delete()
    who, now = participant_id(participant), database_now()
    RoomVoteRow.objects.bulk_create(
        RoomVoteRow(
            room=row,
            participant_id=who,
            ballot=ballot,
            question=one.question,
            turn=one.turn or 0,
            outcome=one.outcome.value,
            value=one.value,
            reasoning=one.reasoning,
            created=now,
        )
        for one in answers
    )


def reveal(token: str) -> None:
    """Show everybody in the room all votes, and open the discussion.

    Raises:
        Conflict: If nobody has voted.
    """
    with transaction.atomic():
        one_at_a_time(f"room {token}")
        row = room_row(token)
        if not RoomVoteRow.objects.filter(room=row).exists():
            message = "there are no votes to reveal yet"
            raise Conflict(message)
        if row.state == RoomState.VOTING.value:
            RoomRow.objects.filter(pk=row.pk).update(state=RoomState.REVEALED.value)


def say(token: str, participant: str, text: str) -> None:
    """Contribute to the discussion.

    Raises:
        Conflict: If the votes are not revealed yet, or the room is closed.
        InputError: If there is no text.
    """
    row = room_row(token)
    if row.state != RoomState.REVEALED.value:
        message = f"posts are possible only between revealing and closing; this session is {row.state}"
        raise Conflict(message)
    if not text.strip():
        message = "a post cannot be empty"
        raise InputError(message)
    RoomPostRow.objects.create(
        room=row, participant_id=participant_id(participant), text=text.strip(), created=database_now()
    )


def close_room(token: str) -> None:
    """Close a room; votes and discussion stay."""
    RoomRow.objects.filter(pk=room_row(token).pk).update(state=RoomState.CLOSED.value)


def rooms(queue: str, *, is_open: bool = False) -> list[tuple[str, str, RoomState]]:
    """Return token, category and state of the rooms of a queue, the latest first."""
    rows = RoomRow.objects.filter(queue__token=queue).order_by("-id")
    rows = rows.exclude(state=RoomState.CLOSED.value) if is_open else rows
    return [(row.token, row.category, RoomState(row.state)) for row in rows]


def room(records: RecordCache, token: str, participant: str) -> CalibrationRoom:
    """Return a room as one person in it sees it: others' votes and the discussion only once they are revealed.

    Raises:
        NotFound: If there is none under that token.
    """
    row = room_row(token)
    study, dialogue = records.study(row.queue.study_content_id), records.dialogue(row.dialogue.unit_id)
    votes = list(RoomVoteRow.objects.filter(room=row).select_related("participant").order_by("id"))
    state = RoomState(row.state)
    shown = [] if state is RoomState.VOTING else votes
    own = [one for one in votes if one.participant.key == participant]
    return CalibrationRoom(
        token=token,
        state=state,
        version=row.version,
        guideline=records.guideline(row.version),
        dialogue=blinded(
            redacted(dialogue, redactions_of(row.dialogue_id), row.category),
            blind_name(dialogue.key, participant, row.queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        own=tuple(answer_of(one) for one in _latest(own)),
        before=_positions(row, [one for one in shown if one.ballot == BLIND]),
        after=_positions(row, _latest(shown)),
        posts=() if state is RoomState.VOTING else posts_in(row, participant),
        n_voted=len({one.participant_id for one in votes}),
        opened=row.created,
    )


def shifts(queue: str) -> list[RoomShift]:
    """Return what everybody answered before and after the discussions of a queue's rooms."""
    rows = RoomVoteRow.objects.filter(room__queue__token=queue).exclude(room__state=RoomState.VOTING.value)
    votes = rows.select_related("room", "participant").order_by("room_id", "id")
    first: dict[tuple[int, str, int, str], RoomVoteRow] = {}
    last: dict[tuple[int, str, int, str], RoomVoteRow] = {}
    for one in votes:
        place = (one.room_id, one.question, one.turn, one.participant.key)
        (first if one.ballot == BLIND else last)[place] = one
    return [
        RoomShift(
            room=one.room.token,
            version=one.room.version,
            question=one.question,
            turn=one.turn or None,
            participant=one.participant.key,
            before=one.value,
            after=last.get(place, one).value,
        )
        for place, one in first.items()
    ]


def _latest(votes: Sequence[RoomVoteRow]) -> list[RoomVoteRow]:
    """Return each person's latest votes: those after the discussion where they gave any."""
    again = {one.participant_id for one in votes if one.ballot == AFTERWARDS}
    return [one for one in votes if one.ballot == AFTERWARDS or one.participant_id not in again]


def _positions(row: RoomRow, votes: Sequence[RoomVoteRow]) -> tuple[Position, ...]:
    everybody = RoomVoteRow.objects.filter(room=row).values_list("participant__key", flat=True).distinct()
    letters = letters_for(list(everybody), f"{row.queue.salt} room {row.pk}")
    found = [Position(letter=letters[one.participant.key], answer=answer_of(one)) for one in votes]
    return tuple(sorted(found, key=lambda one: (one.answer.question, one.answer.turn or 0, one.letter)))
