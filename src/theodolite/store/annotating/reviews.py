"""The repository of reviews: resolutions of disputed questions, and quality checks."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from theodolite.domain.annotating.discrepancy import DissentCause, Resolution
from theodolite.domain.annotating.quality import (
    QualityReview,
    ReviewVerdict,
)
from theodolite.domain.annotation import Outcome
from theodolite.store.annotating.reservations import participant_id
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import (
    QualityReviewRow,
    ResolutionRow,
    ResolverRow,
    WorkItemRow,
)
from theodolite.store.reading import grouped


def resolutions_of(row: WorkItemRow) -> tuple[Resolution, ...]:
    """Return what reviews recorded about an item: the latest for each question and turn."""
    rows = list(ResolutionRow.objects.filter(item=row, current=True).order_by("id"))
    people = ResolverRow.objects.filter(resolution__in=rows).select_related("participant").order_by("position")
    took_part = grouped(people, "resolution_id")
    return tuple(
        Resolution(
            question=one.question,
            turn=one.turn or None,
            participants=tuple(person.participant.key for person in took_part[one.pk]),
            rationale=one.rationale,
            outcome=Outcome(one.outcome) if one.outcome else None,
            value=one.value,
            cause=DissentCause(one.cause) if one.cause else None,
            decided=one.created,
        )
        for one in rows
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
