"""Withdrawals: a person's words are deleted, or nothing leads from them to the person any more.

Rows that other rows and numberings hang on stay, without content: a dialogue that
was taken back keeps its place, so that it can be counted as withdrawn.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import connection, transaction

from theodolite.domain.dialogue import Ending
from theodolite.domain.identity import digest
from theodolite.domain.people.session import SessionState
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
from theodolite.store.contents import Contents
from theodolite.store.ledger import one_at_a_time
from theodolite.store.models import (
    DialogueRow,
    ParticipantRow,
)
from theodolite.store.models.people import (
    AcknowledgementRow,
    AvoidedTopicRow,
    GuessRow,
    LiveAttemptRow,
    LiveDialogueRow,
    LiveTurnRow,
    ProfileEntryRow,
    ProfileRow,
    ResponseAnswerRow,
    ResponseRow,
    SeatRow,
    SessionRow,
    TombstoneRow,
)
from theodolite.store.people.coding import forget_codings, mask_notes
from theodolite.store.people.forgetting import forget_dialogues, withdraw_units
from theodolite.store.people.forgetting_reviews import forget_reviews
from theodolite.store.people.forgetting_work import rename_tester
from theodolite.store.people.masking import Mask, mask_answers, mask_dialogues

_LOG = logging.getLogger(__name__)

_CHECKPOINTS = 5
"""How often the log is emptied at most; count. Each try waits as long as the database waits for a lock."""

_BETWEEN_CHECKPOINTS_S = 0.5


def withdraw(
    contents: Contents, study: str, participant: str, kind: Withdrawal, *, now: datetime, mask: Mask
) -> Tombstone:
    """Take everything back that a person said and answered in a study, and return what is left.

    Args:
        contents: Where combined reviews lie.
        study: Name of the study.
        participant: Opaque key of the person; after this nobody knows it any more.
        kind: Whether words are deleted or kept without a trace of the person.
        now: The present moment.
        mask: Takes out of a text what tells who wrote it; for texts that are kept.
    """
    _overwrite_what_is_deleted()
    with transaction.atomic():
        one_at_a_time(f"withdrawal {study}")
        sessions = list(
            SessionRow.objects.filter(study=study, participant__key=participant).values_list("id", flat=True)
        )
        dialogues = list(LiveDialogueRow.objects.filter(session_id__in=sessions))
        if kind is Withdrawal.REMOVE:
            n_answers = _remove(sessions, dialogues, now)
            forget_reviews(contents, study, sessions)
        else:
            mask_dialogues(dialogues, mask)
            mask_notes(sessions, mask)
            n_answers = mask_answers(sessions, mask)
        _cut_the_link(study, participant, sessions, dialogues)
        left = Tombstone(
            study=study, kind=kind, at=now, sessions=len(sessions), dialogues=len(dialogues), answers=n_answers
        )
        TombstoneRow.objects.create(
            study=study,
            kind=kind.value,
            at=now,
            sessions=left.sessions,
            dialogues=left.dialogues,
            answers=left.answers,
        )
    empty_the_log()
    return left


def _overwrite_what_is_deleted() -> None:
    """Let SQLite write zeros where deleted words stood; it would leave them in the file. PostgreSQL has its vacuum."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def empty_the_log(pause: Callable[[float], None] = time.sleep) -> bool:
    """Bring SQLite's log of writes into the database, where deleted words are overwritten, and cut it off.

    Somebody who reads keeps the log busy, so this is tried again for a while.

    Args:
        pause: Waits some seconds.

    Returns:
        Whether the log was emptied; where not, the words stay in it until the database is next closed.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return True
    for attempt in range(_CHECKPOINTS):
        if attempt:
            pause(_BETWEEN_CHECKPOINTS_S)
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            is_busy, *_ = cursor.fetchone()
        if not is_busy:
            return True
    _LOG.warning("the log of the database is in use, so deleted texts stay in it until the server is stopped")
    return False


def tombstones(study: str) -> list[Tombstone]:
    """Return the withdrawals from a study, the oldest first."""
    return [
        Tombstone(
            study=study,
            kind=Withdrawal(row.kind),
            at=row.at,
            sessions=row.sessions,
            dialogues=row.dialogues,
            answers=row.answers,
        )
        for row in TombstoneRow.objects.filter(study=study).order_by("id")
    ]


def _remove(sessions: Sequence[int], dialogues: Sequence[LiveDialogueRow], now: datetime) -> int:
    """Delete words and answers, mark what is left as withdrawn, and return how many answers there were."""
    ids = [row.id for row in dialogues]
    LiveTurnRow.objects.filter(dialogue_id__in=ids).delete()
    LiveAttemptRow.objects.filter(dialogue_id__in=ids).delete()
    LiveDialogueRow.objects.filter(id__in=ids, ending="").update(ending=Ending.TESTER_LEFT.value)
    units = withdraw_units([row.unit_id for row in dialogues if row.unit_id is not None])
    n_answers = forget_dialogues(units)
    answers = ResponseAnswerRow.objects.filter(response__session_id__in=sessions)
    n_answers += answers.count()
    forget_codings(sessions)
    ResponseRow.objects.filter(session_id__in=sessions).delete()
    GuessRow.objects.filter(session_id__in=sessions).delete()
    rows = SessionRow.objects.filter(id__in=sessions)
    rows.filter(started__isnull=False, ended__isnull=True).update(ended=now)
    rows.update(state=SessionState.WITHDRAWN.value, task_done=None)
    return n_answers


def _cut_the_link(study: str, participant: str, sessions: Sequence[int], dialogues: Sequence[LiveDialogueRow]) -> None:
    """Give what is left of a person's part in a study a key that nobody knows, and delete what tells of the person."""
    profiles = ProfileRow.objects.filter(participant__key=participant)
    ProfileEntryRow.objects.filter(profile__in=profiles).delete()
    profiles.delete()
    AvoidedTopicRow.objects.filter(study=study, participant__key=participant).delete()
    nobody = ParticipantRow.objects.create(key=secrets.token_hex(32))
    SessionRow.objects.filter(id__in=sessions).update(participant=nobody, language="")
    seats = SeatRow.objects.filter(study=study, participant__key=participant)
    seats.update(participant=nobody, freed=True)
    AcknowledgementRow.objects.filter(study=study, participant__key=participant).update(participant=nobody)
    left = list(DialogueRow.objects.filter(unit_id__in=[one.unit_id for one in dialogues if one.unit_id is not None]))
    rename_tester([row.id for row in left], nobody.key)
    for row in left:
        row.cluster, row.pair_key = nobody.key, digest("anonymous", nobody.key, row.pair_key)
        row.save(update_fields=["cluster", "pair_key"])
