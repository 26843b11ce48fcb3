"""The repository of reviews: resolutions of disputed questions, and quality checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

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
)
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import NotFound
from theodolite.store.annotating.queues import participant_id
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    PostRow,
    QualityReviewRow,
    RedactionRow,
    ResolutionRow,
    ResolverRow,
    RoomPostRow,
    RoomRow,
    RoomVoteRow,
    ThreadRow,
    WorkItemRow,
)
from theodolite.store.statements import grouped


def resolutions_of(row: WorkItemRow) -> tuple[Resolution, ...]:
    """Return what reviews recorded about an item: the latest for each question and turn."""
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


def _once(people: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(people))


def quality_reviews_of(rows: QuerySet[QualityReviewRow]) -> list[QualityReview]:
    """Return quality reviews as records, the first first."""
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
    """Return everything that is hidden in a dialogue, whichever case it belongs to; nothing of dismissed ones."""
    return redactions_in([dialogue_id]).get(dialogue_id, ())


def redactions_in(dialogue_ids: Collection[int]) -> dict[int, tuple[Redaction, ...]]:
    """Return everything that is hidden in many dialogues, by dialogue; those with nothing to hide are left out."""
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
    """Return the cases of a study that a view holds, the latest first."""
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
        NotFound: If there is none under that token.
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


def redaction_row(case: CaseRow, one: Redaction) -> RedactionRow:
    """Return what keeps a redaction of a case."""
    return RedactionRow(
        case=case,
        turn=one.turn,
        side=one.side.value,
        start=one.start,
        end=one.end,
        shown_in=_SEPARATOR.join(one.shown_in),
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
    rows = RoomPostRow.objects.filter(room=row).select_related("participant").order_by("id")
    return tuple(
        Post(author=row.participant.key, text=row.text, at=row.created, is_own=row.participant.key == participant)
        for row in rows
    )
