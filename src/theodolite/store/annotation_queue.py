"""Annotation by people in the database: queues, work items, reservations, drafts and reviews.

The repositories run on the connection of the calling thread and open their own
transactions. They take keys and tokens and return domain records.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.sql.compiler import SQLCompiler

from theodolite.domain.annotating.case import (
    CaseAct,
    CaseStep,
    CaseView,
    Flag,
    FlagKind,
    Redaction,
    SensitiveCase,
    TurnText,
)
from theodolite.domain.annotating.discrepancy import (
    Anchor,
    AnchorKind,
    DissentCause,
    FeedbackThread,
    Post,
    Resolution,
    ThreadEnd,
)
from theodolite.domain.annotating.quality import (
    QualityReview,
    ReviewVerdict,
    judge_key,
)
from theodolite.domain.annotating.work import ItemState, QueueDesign, Reservation, ReservationState
from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.identity import keyed_draw
from theodolite.domain.run import UnitState
from theodolite.store.ledger import CHUNK
from theodolite.store.models import AnnotationRow, DialogueRow, ParticipantRow
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    DraftQuoteRow,
    DraftRow,
    PostRow,
    QualityReviewRow,
    QueueEditionRow,
    QueueRow,
    RedactionRow,
    ReservationEventRow,
    ReservationRow,
    ResolutionRow,
    ResolverRow,
    RoomPostRow,
    RoomRow,
    RoomVoteRow,
    ThreadRow,
    WorkItemRow,
)
from theodolite.store.results import annotations_in
from theodolite.store.statements import database_now, grouped, one_at_a_time

V = TypeVar("V")


TOKEN_BYTES = 9
"""Bytes of a token in addresses: 12 characters, which cannot be guessed."""


def new_token() -> str:
    """Return a random token without content."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def queue_of(token: str) -> QueueRow:
    """Return the row of a queue.

    Raises:
        NotFound: If there is no row with that token.
    """
    row = QueueRow.objects.filter(token=token).first()
    if row is None:
        message = f"no queue has the token `{token}`"
        raise NotFound(message)
    return row


def item_row(token: str) -> WorkItemRow:
    """Return the row of an item.

    Raises:
        NotFound: If there is no row with that token.
    """
    row = WorkItemRow.objects.select_related("queue", "dialogue__unit").filter(token=token).first()
    if row is None:
        message = f"no work item has the token `{token}`"
        raise NotFound(message)
    return row


def add_edition(row: QueueRow, by: str) -> None:
    """Record that a queue uses another design from now on."""
    last = QueueEditionRow.objects.filter(queue=row).aggregate(last=Max("number"))["last"] or 0
    QueueEditionRow.objects.create(queue=row, number=last + 1, design_id=row.design_id, by=by, created=database_now())


def add_items(
    queue: QueueRow, design: QueueDesign, dialogues: Sequence[DialogueRow], names: Sequence[str], *, again: int = 0
) -> None:
    """Insert the missing items of some dialogues in some categories; `again` numbers a later sample."""
    now = database_now()
    versions = {category.name: category.version for category in design.categories}
    WorkItemRow.objects.bulk_create(
        [
            WorkItemRow(
                token=new_token(),
                queue=queue,
                dialogue=dialogue,
                category=name,
                version=versions[name],
                again=again,
                tester=dialogue.cluster if dialogue.held_by == TesterType.PERSON.value else "",
                passes=design.process.passes,
                draw=keyed_draw(design.process.seed, f"queue {name}", dialogue.unit.key),
                created=now,
            )
            for dialogue in dialogues
            for name in names
        ],
        ignore_conflicts=True,
    )


@contextmanager
def locked(row: QueueRow) -> Iterator[None]:
    """Run a function in one transaction while no other process changes the queue."""
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        yield


def rows_under(row: QueueRow, items: Sequence[str]) -> list[WorkItemRow]:
    """Return the items of a queue under some tokens, in order of arrival."""
    rows = {
        item.pk: item for tokens in in_chunks(items) for item in WorkItemRow.objects.filter(queue=row, token__in=tokens)
    }
    return [rows[number] for number in sorted(rows)]


def in_chunks(values: Iterable[V]) -> Iterator[list[V]]:
    """Yield distinct values, in chunks of the size of one statement."""
    known = list(dict.fromkeys(values))
    for start in range(0, len(known), CHUNK):
        yield known[start : start + CHUNK]


RESERVED, SUBMITTED = ReservationState.RESERVED.value, ReservationState.SUBMITTED.value


LIVE = (RESERVED, SUBMITTED)


BY_JUDGE = Q(participant__key__startswith=judge_key(""))
"""Condition that selects the reservations of promoted judges; figures about people exclude them."""


def participant_id(key: str) -> int:
    """Return the number of a participant's row; the row is added if it does not exist."""
    return ParticipantRow.objects.get_or_create(key=key)[0].pk


def own_reservation(token: str, participant: str) -> ReservationRow:
    """Return a reservation of the participant.

    Raises:
        NotFound: If there is none, or it belongs to another person.
    """
    rows = ReservationRow.objects.select_related("item__queue", "item__dialogue", "participant")
    row = rows.filter(token=token, participant__key=participant).first()
    if row is None:
        message = f"no reservation has the token `{token}` for this annotator"
        raise NotFound(message)
    return row


def reserve(item: WorkItemRow, participant: str, *, minutes: int, shown: Callable[[], str]) -> ReservationRow:
    """Reserve a free slot of an item for an annotator; the open transaction must hold the queue's lock.

    Args:
        item: The work item.
        participant: Opaque key of the annotator.
        minutes: Duration of the reservation.
        shown: Returns the annotator's permanent order of presentation; called only at the first reservation.

    Raises:
        Conflict: If no slot is free.
    """
    who = participant_id(participant)
    row = ReservationRow.objects.filter(item=item, participant_id=who).first()
    is_first = row is None or row.state == ReservationState.OFFERED.value
    if row is None:
        row = ReservationRow(token=new_token(), item=item, participant_id=who, created=database_now())
    if is_first:
        row.shown = shown()
    row.place, row.of = free_place(item), item.passes
    row.state, row.until, row.reason = RESERVED, end_of(minutes), ""
    row.save()
    WorkItemRow.objects.filter(pk=item.pk).update(live=F("live") + 1)
    note(row, by=participant)
    return row


def free_place(item: WorkItemRow) -> int:
    """Return the lowest free slot of an item, from 1.

    Raises:
        Conflict: If no slot is free.
    """
    taken = set(ReservationRow.objects.filter(item=item, state__in=LIVE).values_list("place", flat=True))
    free = next((position for position in range(1, item.passes + 1) if position not in taken), None)
    if free is None or item.state != ItemState.OPEN.value:
        message = "somebody else has taken this dialogue meanwhile; your answers are kept"
        raise Conflict(message)
    return free


def give_back(row: ReservationRow, state: ReservationState, *, by: str = "", reason: str = "") -> None:
    """End a reservation without an annotation, or void one; its slot is free immediately, and its drafts are kept."""
    was_live, was_done = row.state in LIVE, row.state == SUBMITTED
    row.state, row.place, row.until, row.reason = state.value, None, None, reason
    row.save()
    item = WorkItemRow.objects.get(pk=row.item_id)
    item.live -= int(was_live)
    item.done -= int(was_done)
    if was_done and item.state == ItemState.COMPLETE.value:
        item.state = ItemState.OPEN.value
    item.save()
    note(row, by=by, reason=reason)


def expire(queue: QueueRow) -> int:
    """End the expired reservations of a queue and return their number; submitted ones never expire."""
    stale = ReservationRow.objects.filter(state=RESERVED, until__lt=database_now(), item__queue=queue)
    rows = list(stale.order_by("id"))
    for row in rows:
        give_back(row, ReservationState.EXPIRED)
    return len(rows)


def end_of(minutes: int) -> datetime:
    """Return the end of a reservation that starts or is renewed now; by the database's clock."""
    return database_now() + timedelta(minutes=minutes)


def note(row: ReservationRow, *, by: str = "", reason: str = "") -> None:
    """Record an event of a reservation."""
    ReservationEventRow.objects.create(reservation=row, state=row.state, by=by, reason=reason, created=database_now())


def reservation_of(row: ReservationRow) -> Reservation:
    """Return a reservation as a record."""
    state, item = ReservationState(row.state), row.item
    shut = item.state in {ItemState.FROZEN.value, ItemState.ASIDE.value} or state is ReservationState.VOIDED
    return Reservation(
        token=row.token,
        category=item.category,
        version=item.version,
        state=state,
        until=row.until,
        submitted=row.submitted,
        reason=row.reason,
        is_open=not shut,
    )


def note_all(reservations: Sequence[ReservationRow], by: str) -> None:
    """Record an event of reservations."""
    now = database_now()
    ReservationEventRow.objects.bulk_create(
        (
            ReservationEventRow(reservation=reservation, state=reservation.state, by=by, created=now)
            for reservation in reservations
        ),
        batch_size=CHUNK,
    )


def add_draft(reservation: ReservationRow, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    """Add a draft as the current one of its question and turn, and return its time; earlier ones stay on record."""
    last = DraftRow.objects.filter(reservation=reservation).aggregate(last=Max("number"))["last"] or 0
    DraftRow.objects.filter(reservation=reservation, question=row.question, turn=row.turn, current=True).update(
        current=False
    )
    saved = database_now()
    row.reservation, row.number, row.current, row.created = reservation, last + 1, True, saved
    row.save()
    DraftQuoteRow.objects.bulk_create(
        DraftQuoteRow(draft=row, position=position, turn=quote.turn, text=quote.text)
        for position, quote in enumerate(quotes)
    )
    return saved


def draft_rows(reservation: ReservationRow) -> list[DraftRow]:
    """Return every draft of a reservation, in order of saving."""
    return list(DraftRow.objects.filter(reservation=reservation).order_by("number"))


def quotes_of(row: DraftRow | None) -> tuple[Quote, ...]:
    """Return the quotes of a draft; none without a draft."""
    if row is None:
        return ()
    rows = DraftQuoteRow.objects.filter(draft=row).order_by("position")
    return tuple(Quote(turn=quote.turn, text=quote.text) for quote in rows)


def following_drafts(reservation: ReservationRow) -> list[DraftRow]:
    """Return the current drafts of following categories; their questions have the category and `/` before the name."""
    rows = DraftRow.objects.filter(reservation=reservation, current=True, question__contains="/")
    return list(rows.exclude(outcome="").order_by("number"))


def current_answers(reservation: ReservationRow, following: str = "") -> tuple[Answer, ...]:
    """Return the current answers, in the order in which they were first saved.

    Args:
        reservation: The reservation.
        following: Category that follows from the reservation's own answers; empty for the reservation's own category.
    """
    prefix = f"{following}/" if following else ""
    drafts = DraftRow.objects.filter(reservation=reservation, current=True).exclude(outcome="").order_by("number")
    own = drafts.filter(question__startswith=prefix) if prefix else drafts.exclude(question__contains="/")
    rows = list(own)
    quotes = grouped(DraftQuoteRow.objects.filter(draft__in=rows).order_by("position"), "draft_id")
    return tuple(
        Answer(
            question=row.question.removeprefix(prefix),
            outcome=Outcome(row.outcome),
            value=row.value,
            turn=row.turn or None,
            reasoning=row.reasoning,
            evidence=tuple(Quote(turn=quote.turn, text=quote.text) for quote in quotes.get(row.pk, [])),
        )
        for row in rows
    )


def saved_at(reservation: ReservationRow) -> datetime | None:
    """Return the time of the last saved change."""
    moment: datetime | None = DraftRow.objects.filter(reservation=reservation).aggregate(last=Max("created"))["last"]
    return moment


def given_to(item: WorkItemRow) -> Mapping[str, tuple[Answer, ...]]:
    """Return the answers of the submitted annotations of an item, latest revisions, by participant."""
    rows = ReservationRow.objects.filter(item=item, state=SUBMITTED, annotation__isnull=False).order_by("id")
    people = dict(rows.values_list("annotation_id", "participant__key"))
    matches = AnnotationRow.objects.filter(id__in=list(people)).order_by("id")
    return {people[row.pk]: one.answers for row, one in zip(matches, annotations_in(list(matches)), strict=True)}


def state_of(queue: QueueRow, category: str) -> tuple[Any, ...]:
    """Return a key that changes with the answers of a category; three queries that read no answer."""
    annotations = AnnotationRow.objects.filter(annotations_of(queue, category))
    reservations = ReservationRow.objects.filter(item__queue=queue, item__category=category, annotation__isnull=False)
    counts = annotations.aggregate(n=Count("id"), last=Max("id"), made=Max("created"))
    by_state = reservations.values_list("state").annotate(
        n=Count("id"), which=Sum("annotation_id"), last=Max("submitted")
    )
    study = (queue.study_content_id, queue.design_id)
    return (*study, *counts.values(), n_withdrawn(queue, category), *sorted(by_state.order_by()))


def n_withdrawn(queue: QueueRow, category: str) -> int:
    """Return the number of dialogues of a category whose answers were deleted while their annotations stay; count."""
    items = WorkItemRow.objects.filter(queue=queue, category=category, state=ItemState.ASIDE.value)
    return items.filter(dialogue__unit__state=UnitState.WITHDRAWN.value).count()


class Listed(Aggregate):
    """Numbers of a group joined by commas, which takes a tenth of the time of reading them one by one."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """Return the expression in PostgreSQL's syntax."""
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')")


def annotations_of(queue: QueueRow, category: str) -> Q:
    """Return the condition that an annotation answers a category of a queue in a version that its items use."""
    items = WorkItemRow.objects.filter(queue=queue, category=category)
    return Q(
        guideline=category,
        dialogue_id__in=items.values("dialogue_id"),
        instrument_version__in=items.values("version"),
    )


def resolutions_of(row: WorkItemRow) -> tuple[Resolution, ...]:
    """Return the recorded results of reviews of an item: the latest for each question and turn."""
    rows = list(ResolutionRow.objects.filter(item=row, current=True).order_by("id"))
    people = ResolverRow.objects.filter(resolution__in=rows).select_related("participant").order_by("position")
    took_part = grouped(people, "resolution_id")
    return tuple(
        Resolution(
            question=row.question,
            turn=row.turn or None,
            participants=tuple(person.participant.key for person in took_part[row.pk]),
            rationale=row.rationale,
            outcome=Outcome(row.outcome) if row.outcome else None,
            value=row.value,
            cause=DissentCause(row.cause) if row.cause else None,
            decided=row.created,
        )
        for row in rows
    )


def add_resolution(row: WorkItemRow, found: Resolution) -> None:
    """Add a resolution as the current one of its question and turn; earlier ones stay on record."""
    before = ResolutionRow.objects.filter(item=row, question=found.question, turn=found.turn or 0, current=True)
    before.update(current=False)
    made = ResolutionRow.objects.create(
        item=row,
        question=found.question,
        turn=found.turn or 0,
        outcome=found.outcome.value if found.outcome else "",
        value=found.value,
        cause=found.cause.value if found.cause else "",
        rationale=found.rationale.strip(),
        created=database_now(),
    )
    ResolverRow.objects.bulk_create(
        ResolverRow(resolution=made, participant_id=participant_id(person), position=position)
        for position, person in enumerate(_once(found.participants))
    )


def withdraw_resolution(row: WorkItemRow, question: str, turn: int | None) -> None:
    """Leave a question of a review without a current result; all results stay on record."""
    recorded = ResolutionRow.objects.filter(item=row, question=question, turn=turn or 0, current=True)
    recorded.update(current=False)


def _once(people: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(people))


def quality_reviews_of(rows: QuerySet[QualityReviewRow]) -> list[QualityReview]:
    """Return quality reviews as records, oldest first."""
    matches = rows.select_related("reservation").order_by("id")
    return [
        QualityReview(
            reservation=row.reservation.token,
            revision=row.revision,
            verdict=ReviewVerdict(row.verdict),
            comment=row.comment,
            by=row.by,
            at=row.created,
        )
        for row in matches
    ]


_SEPARATOR = "\n"


def redactions_of(dialogue_id: int) -> tuple[Redaction, ...]:
    """Return all redactions of a dialogue, of any case; those of dismissed cases are excluded."""
    return redactions_in([dialogue_id]).get(dialogue_id, ())


def redactions_in(dialogue_ids: Collection[int]) -> dict[int, tuple[Redaction, ...]]:
    """Return all redactions of many dialogues, by dialogue; dialogues without redactions are omitted."""
    dismissed = CaseStepRow.objects.filter(case__dialogue_id__in=dialogue_ids, act=CaseAct.DISMISSED.value)
    rows = RedactionRow.objects.filter(case__dialogue_id__in=dialogue_ids).exclude(case__in=dismissed.values("case_id"))
    result: defaultdict[int, list[Redaction]] = defaultdict(list)
    for row in rows.select_related("case").order_by("id"):
        result[row.case.dialogue_id].append(redaction_of(row))
    return {dialogue: tuple(hidden) for dialogue, hidden in result.items()}


def cases_in_study(study: str) -> QuerySet[CaseRow]:
    """Return the cases of a study, the latest first."""
    return CaseRow.objects.filter(study=study).select_related("dialogue__unit").order_by("-id")


def cases_in_view(study: str, view: CaseView) -> QuerySet[CaseRow]:
    """Return the cases of a study in a view, latest first."""
    steps = CaseStepRow.objects.filter(case=OuterRef("pk")).order_by("-id")
    rows = cases_in_study(study).annotate(last=Subquery(steps.values("act")[:1]))
    shut = [CaseAct.CLOSED.value, CaseAct.DISMISSED.value]
    by_people = Exists(steps.exclude(act=CaseAct.OPENED.value))
    match view:
        case CaseView.SUGGESTED:
            return rows.filter(~by_people, by_detector=True)
        case CaseView.OPEN:
            return rows.filter(Q(by_detector=False) | by_people).exclude(last__in=shut)
        case CaseView.CLOSED:
            return rows.filter(last__in=shut)


def case_row(token: str) -> CaseRow:
    """Return the row of a case.

    Raises:
        NotFound: If there is no row with that token.
    """
    row = CaseRow.objects.filter(token=token).select_related("dialogue__unit").first()
    if row is None:
        message = f"no case has the token `{token}`"
        raise NotFound(message)
    return row


def add_step(row: CaseRow, act: CaseAct, by: str, note: str) -> None:
    """Record a step of a case."""
    CaseStepRow.objects.create(case=row, act=act.value, by=by, note=note, created=database_now())


def cases_of(rows: Sequence[CaseRow]) -> list[SensitiveCase]:
    """Return cases as records, with their steps and redactions."""
    steps = grouped(CaseStepRow.objects.filter(case__in=rows).order_by("id"), "case_id")
    hidden = grouped(RedactionRow.objects.filter(case__in=rows).order_by("id"), "case_id")
    return [
        SensitiveCase(
            token=row.token,
            dialogue=row.dialogue.unit.key,
            flag=Flag(
                kind=FlagKind(row.kind), turn=row.turn, words=row.words, note=row.note, by_detector=row.by_detector
            ),
            steps=tuple(
                CaseStep(act=CaseAct(step.act), by=step.by, at=step.created, note=step.note)
                for step in steps.get(row.pk, [])
            ),
            redactions=tuple(map(redaction_of, hidden.get(row.pk, []))),
        )
        for row in rows
    ]


def redaction_row(case: CaseRow, redaction: Redaction) -> RedactionRow:
    """Return the storage of a case's redactions."""
    return RedactionRow(
        case=case,
        turn=redaction.turn,
        side=redaction.side.value,
        start=redaction.start,
        end=redaction.end,
        shown_in=_SEPARATOR.join(redaction.shown_in),
    )


def redaction_of(row: RedactionRow) -> Redaction:
    """Return a redaction as a record."""
    return Redaction(
        turn=row.turn,
        side=TurnText(row.side),
        start=row.start,
        end=row.end,
        shown_in=tuple(row.shown_in.split(_SEPARATOR)) if row.shown_in else (),
    )


def thread_row(token: str) -> ThreadRow:
    """Return the row of a thread.

    Raises:
        NotFound: If there is no row with that token.
    """
    row = ThreadRow.objects.filter(token=token).first()
    if row is None:
        message = f"no thread has the token `{token}`"
        raise NotFound(message)
    return row


def has_begun(thread: ThreadRow, participant: str) -> bool:
    """Return whether a participant started a thread."""
    first = PostRow.objects.filter(thread=thread).order_by("id").values_list("participant__key", flat=True).first()
    return first == participant


def add_post(thread: ThreadRow, participant: str, text: str) -> None:
    """Add a post to a thread."""
    PostRow.objects.create(
        thread=thread, participant_id=participant_id(participant), text=text.strip(), created=database_now()
    )


def threads_of(rows: Sequence[ThreadRow], participant: str) -> list[FeedbackThread]:
    """Return threads as records, as one participant may see them."""
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
            Post(
                author=post.participant.key, text=post.text, at=post.created, is_own=post.participant.key == participant
            )
            for post in posts
        ),
        end=ThreadEnd(row.end) if row.end else None,
        text=row.text,
    )


def room_row(token: str) -> RoomRow:
    """Return the row of a room.

    Raises:
        NotFound: If there is no row with that token.
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
    """Return the posts of a calibration session, as one participant may see them."""
    rows = RoomPostRow.objects.filter(room=row).select_related("participant").order_by("id")
    return tuple(
        Post(author=row.participant.key, text=row.text, at=row.created, is_own=row.participant.key == participant)
        for row in rows
    )
