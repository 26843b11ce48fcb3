"""The repository of withdrawals, and the repositories of an event together."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from django.db import connection, transaction
from django.db.models import Model, Q, QuerySet

from theodolite.domain.annotating.work import ItemState
from theodolite.domain.dialogue import Ending
from theodolite.domain.event_record import Tombstone, Withdrawal
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.identity import digest, type_name
from theodolite.domain.run import UnitState
from theodolite.domain.series_review import ReviewEntry
from theodolite.domain.session import SessionState
from theodolite.store.contents import Contents, content_of, record_of
from theodolite.store.event_dialogues import LiveDialogueRepository, ReplyRepository
from theodolite.store.event_responses import CodingRepository, ResponseRepository, forget_codings, mask_notes
from theodolite.store.event_sessions import ParticipantRepository, SessionRepository
from theodolite.store.executor import Executor, Repository, reads
from theodolite.store.models import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    AttemptRow,
    ContentRow,
    DialogueGroupRow,
    DialogueRow,
    FiledRow,
    JournalEntryRow,
    ParticipantRow,
    QuoteRow,
    StrategyRow,
    TurnRow,
    UnitRow,
    VoteRow,
)
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    DraftQuoteRow,
    DraftRow,
    GoldRow,
    PostRow,
    QualityReviewRow,
    RedactionRow,
    ReservationEventRow,
    ReservationRow,
    ResolutionRow,
    ResolverRow,
    RoomPostRow,
    RoomVoteRow,
    ThreadRow,
    WorkItemRow,
)
from theodolite.store.models.events import (
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
    SessionRow,
    SlotRow,
    TombstoneRow,
)
from theodolite.store.statements import one_at_a_time

_LOG = logging.getLogger(__name__)


_CHECKPOINTS = 5
"""Maximum number of attempts to empty the log; count. Each waits as long as the database waits for a lock."""


_BETWEEN_CHECKPOINTS_S = 0.5


WITHDRAWN = "withdrawn by the person who took part"
"""Replaces a reply about a withdrawn dialogue."""


Mask = Callable[[str], str]
"""Masks identifying details in a text without changing its length, so that quotes still match."""


class WithdrawalRepository(Repository):
    """Withdrawals from studies, and the counts that remain of them.

    Rows that other rows and numbers depend on are kept without content: a withdrawn
    dialogue keeps its number, so that it is counted as withdrawn.
    """

    def __init__(self, executor: Executor, contents: Contents) -> None:
        """Set the executor, and the store of combined reviews."""
        super().__init__(executor)
        self._contents = contents

    def withdraw(self, study: str, participant: str, kind: Withdrawal, *, now: datetime, mask: Mask = str) -> Tombstone:
        """Remove or anonymise everything that a participant contributed to a study; return the remaining counts.

        Args:
            study: Name of the study.
            participant: Opaque key of the participant; nothing refers to it afterwards.
            kind: Whether texts are deleted, or kept without a link to the participant.
            now: The present moment.
            mask: Masks identifying details in texts that are kept.
        """
        work = partial(self._withdraw, study, participant, kind, now=now, mask=mask)
        return self.executor.write(work)

    def _withdraw(self, study: str, participant: str, kind: Withdrawal, *, now: datetime, mask: Mask) -> Tombstone:
        _overwrite_deleted_rows()
        with transaction.atomic():
            one_at_a_time(f"withdrawal {study}")
            sessions = list(
                SessionRow.objects.filter(study=study, participant__key=participant).values_list("id", flat=True)
            )
            dialogues = list(LiveDialogueRow.objects.filter(session_id__in=sessions))
            if kind is Withdrawal.REMOVE:
                n_answers = _remove(sessions, dialogues, now)
                _forget_reviews(self._contents, study, sessions)
            else:
                _mask_dialogues(dialogues, mask)
                mask_notes(sessions, mask)
                n_answers = _mask_answers(sessions, mask)
            _withdraw_feedback(self._contents, study, participant, None if kind is Withdrawal.REMOVE else mask)
            _unlink(study, participant, sessions, dialogues)
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
        empty_log()
        return left

    @reads
    def tombstones(self, study: str) -> list[Tombstone]:
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


def _overwrite_deleted_rows() -> None:
    """Make SQLite overwrite deleted rows with zeros, because it leaves them in the file; PostgreSQL uses vacuum."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def empty_log(pause: Callable[[float], None] = time.sleep) -> bool:
    """Merge SQLite's write-ahead log into the database, where deleted texts are overwritten, and truncate it.

    A reader keeps the log busy, so several attempts are made.

    Args:
        pause: Waits some seconds.

    Returns:
        Whether the log was emptied; if not, it contains the texts until the database is closed.
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


def _remove(sessions: Sequence[int], dialogues: Sequence[LiveDialogueRow], now: datetime) -> int:
    """Delete texts and answers, mark the rest as withdrawn, and return the count of answers."""
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


def _unlink(study: str, participant: str, sessions: Sequence[int], dialogues: Sequence[LiveDialogueRow]) -> None:
    """Assign the remaining rows of a participant to an unknown key, and delete the profile."""
    profiles = ProfileRow.objects.filter(participant__key=participant)
    ProfileEntryRow.objects.filter(profile__in=profiles).delete()
    profiles.delete()
    AvoidedTopicRow.objects.filter(study=study, participant__key=participant).delete()
    nobody = ParticipantRow.objects.create(key=secrets.token_hex(32))
    SessionRow.objects.filter(id__in=sessions).update(participant=nobody, language="")
    slots = SlotRow.objects.filter(study=study, participant__key=participant)
    slots.update(participant=nobody, freed=True)
    AcknowledgementRow.objects.filter(study=study, participant__key=participant).update(participant=nobody)
    left = list(
        DialogueRow.objects.filter(
            unit_id__in=[dialogue.unit_id for dialogue in dialogues if dialogue.unit_id is not None]
        )
    )
    WorkItemRow.objects.filter(dialogue_id__in=[row.id for row in left]).update(tester=nobody.key)
    for row in left:
        row.cluster, row.pair_key = nobody.key, digest("anonymous", nobody.key, row.pair_key)
        row.save(update_fields=["cluster", "pair_key"])


def withdraw_units(unit_ids: Sequence[int]) -> list[int]:
    """Mark session units, the units that adopted them and their annotations as withdrawn; return the sessions."""
    sessions = UnitRow.objects.filter(Q(id__in=unit_ids) | Q(adopted_from_id__in=unit_ids))
    result = dict(sessions.values_list("id", "key"))
    about = UnitRow.objects.filter(subject__in=list(result.values()))
    journals = JournalEntryRow.objects.filter(Q(unit__in=about) | Q(unit_id__in=list(result)))
    journals.update(text="", withheld=WITHDRAWN)
    for units in (about, UnitRow.objects.filter(id__in=list(result))):
        units.update(state=UnitState.WITHDRAWN.value, owner="", lease_until=None)
    return list(result)


def forget_dialogues(unit_ids: Sequence[int]) -> int:
    """Delete the texts of the dialogues of some units, and all texts about them.

    Returns:
        Answers of annotators that were deleted; count.
    """
    dialogues = list(DialogueRow.objects.filter(unit_id__in=unit_ids).values_list("id", flat=True))
    annotations = list(AnnotationRow.objects.filter(dialogue_id__in=dialogues).values_list("id", flat=True))
    QuoteRow.objects.filter(answer__annotation_id__in=annotations).delete()
    n_answers, _ = AnswerRow.objects.filter(annotation_id__in=annotations).delete()
    VoteRow.objects.filter(annotation_id__in=annotations).delete()
    finals = AdjudicationRow.objects.filter(dialogue_id__in=dialogues)
    AdjudicatorRow.objects.filter(adjudication__in=finals).delete()
    finals.delete()
    AttemptRow.objects.filter(strategy__dialogue_id__in=dialogues).delete()
    StrategyRow.objects.filter(dialogue_id__in=dialogues).delete()
    DialogueGroupRow.objects.filter(dialogue_id__in=dialogues).delete()
    TurnRow.objects.filter(dialogue_id__in=dialogues).delete()
    DialogueRow.objects.filter(id__in=dialogues).update(persona=None)
    _forget_work(dialogues)
    return n_answers


def _forget_reviews(contents: Contents, study: str, sessions: Sequence[int]) -> None:
    """Delete the combined reviews of some sessions with their rationales.

    Args:
        contents: Where the reviews are stored.
        study: Name of the study.
        sessions: Ids of the sessions' rows.
    """
    keys = set(SessionRow.objects.filter(id__in=sessions).values_list("key", flat=True))
    filed = FiledRow.objects.filter(subject=CombinedReview.subject(study), content__tag=type_name(CombinedReview))
    texts = contents.texts(filed.values_list("content_id", flat=True))
    versions = [version for version, text in texts.items() if record_of(CombinedReview, text).session in keys]
    filed.filter(content__in=versions).delete()
    _delete_contents(versions)


def _withdraw_feedback(contents: Contents, study: str, participant: str, mask: Mask | None) -> None:
    """Anonymise the participant's feedback; its entry in the review is kept.

    Args:
        contents: Where the entries are stored.
        study: Name of the study.
        participant: Opaque key of the participant.
        mask: Masks identifying details in a text that is kept; None if the text is removed.
    """
    filed = FiledRow.objects.filter(subject=ReviewEntry.subject(study), content__tag=type_name(ReviewEntry))
    texts = contents.texts(filed.values_list("content_id", flat=True))
    for version, text in texts.items():
        entry = record_of(ReviewEntry, text)
        if entry.by != participant:
            continue
        changed = content_of(entry.withdrawn(mask))
        contents.keep([changed])
        filed.filter(content_id=version).update(content_id=changed.version)
        _delete_contents([version])


def _delete_contents(versions: Sequence[str]) -> None:
    """Delete contents except those that others are compressed against."""
    leaned_on = ContentRow.objects.filter(base__in=versions).values("base")
    ContentRow.objects.filter(version__in=versions).exclude(version__in=leaned_on).delete()


def _forget_work(dialogues: Sequence[int]) -> None:
    """Delete annotators' texts about some dialogues, including gold answers, and set their items aside.

    Args:
        dialogues: Ids of the dialogues' rows.
    """
    DraftQuoteRow.objects.filter(draft__reservation__item__dialogue_id__in=dialogues).delete()
    DraftRow.objects.filter(reservation__item__dialogue_id__in=dialogues).delete()
    RoomVoteRow.objects.filter(room__dialogue_id__in=dialogues).delete()
    RoomPostRow.objects.filter(room__dialogue_id__in=dialogues).delete()
    threads = ThreadRow.objects.filter(reservation__item__dialogue_id__in=dialogues)
    PostRow.objects.filter(thread__in=threads).delete()
    threads.update(text="")
    ResolverRow.objects.filter(resolution__item__dialogue_id__in=dialogues).delete()
    ResolutionRow.objects.filter(item__dialogue_id__in=dialogues).delete()
    QualityReviewRow.objects.filter(reservation__item__dialogue_id__in=dialogues).update(comment="")
    GoldRow.objects.filter(item__dialogue_id__in=dialogues).delete()
    ReservationRow.objects.filter(item__dialogue_id__in=dialogues).update(reason="")
    ReservationEventRow.objects.filter(reservation__item__dialogue_id__in=dialogues).update(reason="")
    RedactionRow.objects.filter(case__dialogue_id__in=dialogues).delete()
    CaseStepRow.objects.filter(case__dialogue_id__in=dialogues).update(note="")
    CaseRow.objects.filter(dialogue_id__in=dialogues).update(words="", note="")
    WorkItemRow.objects.filter(dialogue_id__in=dialogues).update(state=ItemState.ASIDE.value, tester="", disputed=0)


def _mask_dialogues(dialogues: Sequence[LiveDialogueRow], mask: Mask) -> None:
    """Mask both sides of some dialogues, and the texts about them.

    An application that repeats an address, or an annotator who quotes it, identifies the
    participant too.

    Args:
        dialogues: Rows of the live dialogues.
        mask: Masks identifying details in a text.
    """
    live, units = [row.id for row in dialogues], [row.unit_id for row in dialogues if row.unit_id is not None]
    turns = LiveTurnRow.objects.filter(dialogue_id__in=live)
    _mask_rows(turns, ("prompt", "response", "original", "cause", "claims"), mask)
    _mask_rows(LiveAttemptRow.objects.filter(dialogue_id__in=live), ("description",), mask)
    rows = list(DialogueRow.objects.filter(unit_id__in=units).values_list("id", flat=True))
    _mask_rows(TurnRow.objects.filter(dialogue_id__in=rows), ("prompt", "response"), mask)
    _mask_annotations(rows, mask)
    subjects = list(UnitRow.objects.filter(id__in=units).values_list("key", flat=True))
    _mask_rows(JournalEntryRow.objects.filter(unit__subject__in=subjects), ("text", "original"), mask)


def _mask_answers(sessions: Sequence[int], mask: Mask) -> int:
    """Mask the questionnaire answers of some sessions, and return the count of answers."""
    answers = ResponseAnswerRow.objects.filter(response__session_id__in=sessions)
    return _mask_rows(answers, ("value", "raw", "reasoning"), mask)


def _mask_annotations(dialogues: Sequence[int], mask: Mask) -> None:
    """Mask answers, quotes and notes of judges and people about some dialogues."""
    _mask_rows(AnswerRow.objects.filter(annotation__dialogue_id__in=dialogues), ("reasoning", "raw"), mask)
    _mask_rows(VoteRow.objects.filter(annotation__dialogue_id__in=dialogues), ("reasoning", "raw"), mask)
    _mask_rows(QuoteRow.objects.filter(answer__annotation__dialogue_id__in=dialogues), ("text",), mask)
    items = {"reservation__item__dialogue_id__in": dialogues}
    _mask_rows(DraftRow.objects.filter(**items), ("reasoning",), mask)
    _mask_rows(DraftQuoteRow.objects.filter(draft__reservation__item__dialogue_id__in=dialogues), ("text",), mask)
    _mask_rows(ThreadRow.objects.filter(**items), ("text",), mask)
    _mask_rows(PostRow.objects.filter(thread__reservation__item__dialogue_id__in=dialogues), ("text",), mask)
    _mask_rows(RoomPostRow.objects.filter(room__dialogue_id__in=dialogues), ("text",), mask)
    _mask_rows(ResolutionRow.objects.filter(item__dialogue_id__in=dialogues), ("rationale",), mask)
    _mask_rows(CaseRow.objects.filter(dialogue_id__in=dialogues), ("words", "note"), mask)


def _mask_rows(rows: QuerySet[Model], fields: Iterable[str], mask: Mask) -> int:
    """Mask some fields of rows, write the changed rows, and return the number of rows."""
    names, n_rows = tuple(fields), 0
    for row in rows:
        n_rows += 1
        known = {name: getattr(row, name) for name in names}
        changed = {name: masked for name, text in known.items() if text and (masked := mask(text)) != text}
        for name, text in changed.items():
            setattr(row, name, text)
        if changed:
            row.save(update_fields=list(changed))
    return n_rows


class EventRepository:
    """The repositories of one workspace's events."""

    def __init__(self, executor: Executor, contents: Contents) -> None:
        """Create the repositories on one executor.

        Args:
            executor: Runs their work.
            contents: Where records are stored by content hash.
        """
        self.participants = ParticipantRepository(executor)
        self.sessions = SessionRepository(executor)
        self.dialogues = LiveDialogueRepository(executor, contents)
        self.replies = ReplyRepository(executor)
        self.responses = ResponseRepository(executor)
        self.codings = CodingRepository(executor)
        self.withdrawals = WithdrawalRepository(executor, contents)
