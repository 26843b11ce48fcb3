"""Reviews: the sample that seniors look at, and how annotators' work looks from above."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from theodolite.assessment.queue.quality import review_sample
from theodolite.domain.annotating.quality import Conscientiousness, QualityReview, ReviewCandidate, ReviewVerdict
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.people.event import AnnotationProcess
from theodolite.measurement.spread import Halves, halves_alike
from theodolite.store.annotating.all_answers import all_answers, state_of
from theodolite.store.annotating.claims import BY_JUDGE, RESERVED, SUBMITTED
from theodolite.store.annotating.gold import right_by_annotator
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import (
    QualityReviewRow,
    ReservationEventRow,
    ReservationRow,
    ReviewWishRow,
    WorkItemRow,
)


def to_review(library: Library, queue: str) -> list[str]:
    """Return the reservations that seniors are still to look at in their present revision: drawn, or wished for."""
    row = queue_of(queue)
    process = library.design(row.design_id).process
    seen = QualityReviewRow.objects.filter(reservation__item__queue=row)
    submitted = _submitted(queue).aggregate(n=Count("id"), last=Max("submitted"), revisions=Sum("revision"))
    wished = ReviewWishRow.objects.filter(item__queue=row)
    wishes = wished.aggregate(n=Count("id"), last=Max("id"))
    state = (process, *submitted.values(), seen.count(), *wishes.values())
    return library.remembered(("to review", row.pk), state, lambda _: _to_review(queue, process, seen))


def _to_review(queue: str, process: AnnotationProcess, seen: QuerySet[QualityReviewRow]) -> list[str]:
    rows = list(_submitted(queue).order_by("id").values_list("token", "item__category", "participant__key", "revision"))
    candidates = [ReviewCandidate(key=token, stratum=f"{category} {person}") for token, category, person, _ in rows]
    wishes = ReviewWishRow.objects.filter(item__queue__token=queue)
    wished = _submitted(queue).filter(item_id__in=wishes.values("item_id"))
    drawn = set(review_sample(candidates, process.quality_check, process.seed))
    drawn.update(wished.values_list("token", flat=True))
    last = dict(seen.values_list("reservation__token").annotate(last=Max("revision")))
    return [token for token, _, _, revision in rows if token in drawn and last.get(token, 0) < revision]


def review(token: str, verdict: ReviewVerdict, *, by: str, comment: str = "") -> None:
    """Accept an annotation, or return it with a comment: its item opens for changes, and its annotator sees why.

    Raises:
        InputError: If it is returned without a comment.
        NotFound: If there is no such submitted annotation.
    """
    if verdict is ReviewVerdict.RETURNED and not comment.strip():
        message = "an annotation is returned with a comment that says what to look at again; it has none"
        raise InputError(message)
    row = ReservationRow.objects.filter(token=token, state=SUBMITTED).select_related("item").first()
    if row is None:
        message = f"no submitted annotation has the token `{token}`"
        raise NotFound(message)
    with transaction.atomic():
        QualityReviewRow.objects.create(
            reservation=row,
            revision=row.revision,
            verdict=verdict.value,
            comment=comment.strip(),
            by=by,
            created=database_now(),
        )
        if verdict is ReviewVerdict.RETURNED:
            frozen = WorkItemRow.objects.filter(pk=row.item_id, state=ItemState.FROZEN.value)
            frozen.update(state=ItemState.COMPLETE.value)


def reviews_of(token: str) -> list[QualityReview]:
    """Return the reviews of one annotation, the first first."""
    return _reviews(QualityReviewRow.objects.filter(reservation__token=token))


def returned_to(queue: str, participant: str) -> list[QualityReview]:
    """Return what was returned to an annotator and not submitted again since."""
    rows = QualityReviewRow.objects.filter(
        reservation__item__queue__token=queue,
        reservation__participant__key=participant,
        verdict=ReviewVerdict.RETURNED.value,
        revision=F("reservation__revision"),
    )
    later = QualityReviewRow.objects.filter(verdict=ReviewVerdict.ACCEPTED.value, revision=F("reservation__revision"))
    return _reviews(rows.exclude(reservation_id__in=later.values("reservation_id")))


def _reviews(rows: QuerySet[QualityReviewRow]) -> list[QualityReview]:
    found = rows.select_related("reservation").order_by("id")
    return [
        QualityReview(
            reservation=row.reservation.token,
            revision=row.revision,
            verdict=ReviewVerdict(row.verdict),
            comment=row.comment,
            by=row.by,
            at=row.created,
        )
        for row in found
    ]


def from_above(library: Library, queue: str) -> list[Conscientiousness]:
    """Return how each annotator's work looks: speed, gold items, drift against the others, returns; for seniors' eyes.

    Others are all people who answered, here or elsewhere. The number of queries
    hangs on how many categories there are, and not on answers.
    """
    minutes, gold, alike = _minutes(queue), right_by_annotator(queue), _alike(library, queue)
    returned = QualityReviewRow.objects.filter(reservation__item__queue__token=queue, verdict="returned")
    n_returned = dict(returned.values_list("reservation__participant__key").annotate(n=Count("id")))
    return [
        Conscientiousness(
            participant=person,
            n_submitted=len(spent),
            median_minutes=median(spent) if spent else None,
            gold_right=gold.get(person, (0, 0))[0],
            gold_asked=gold.get(person, (0, 0))[1],
            early_alike=halves.early_alike,
            early_asked=halves.early_asked,
            late_alike=halves.late_alike,
            late_asked=halves.late_asked,
            n_returned=n_returned.get(person, 0),
        )
        for person, spent in sorted(minutes.items())
        for halves in [alike.get(person, Halves())]
    ]


def _submitted(queue: str) -> QuerySet[ReservationRow]:
    """Return what people have submitted, but for dialogues that are set aside: withdrawn, or kept from everybody."""
    rows = ReservationRow.objects.filter(~BY_JUDGE, item__queue__token=queue, state=SUBMITTED)
    return rows.exclude(item__state=ItemState.ASIDE.value)


def _minutes(queue: str) -> dict[str, list[float]]:
    """Return the minutes from reserving to first submitting of each submitted item, by annotator."""
    events = ReservationEventRow.objects.filter(reservation__item__queue__token=queue, reservation__state=SUBMITTED)
    times = events.values_list("reservation_id", "reservation__participant__key").annotate(
        begun=Min("created", filter=Q(state=RESERVED)), ended=Min("created", filter=Q(state=SUBMITTED))
    )
    found: dict[str, list[float]] = defaultdict(list)
    for _, person, begun, ended in times:
        if begun is not None and ended is not None:
            found[person].append((ended - begun).total_seconds() / 60)
    return found


def _alike(library: Library, queue: str) -> dict[str, Halves]:
    """Return for each annotator how many of their answers anybody else gave too, in both halves of their work."""
    row = queue_of(queue)
    categories = [one.name for one in library.design(row.design_id).categories]
    state = tuple(state_of(row, name) for name in categories)

    def halves(_: object) -> dict[str, Halves]:
        found = [all_answers(library, queue, name).people for name in categories]
        return halves_alike(columns for by_question in found for columns in by_question.values())

    return library.remembered(("halves", row.pk), state, halves)
