"""Versions of categories: since when one is in use, and who keeps a qualification when the next one follows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Min

from theodolite.domain.errors import InputError
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import PracticeRow, QualificationRow, ReservationRow


def first_use(versions: Collection[str]) -> datetime | None:
    """Return when somebody first took a dialogue to annotate by one of these versions; UTC, None if nobody has.

    Args:
        versions: Content hashes of guidelines.
    """
    rows = ReservationRow.objects.filter(item__version__in=versions)
    first: datetime | None = rows.aggregate(first=Min("created"))["first"]
    return first


def n_qualified(version: str) -> int:
    """Return how many people are qualified for a category in one version; count."""
    rows = QualificationRow.objects.filter(version=version, passed=True)
    return rows.values("participant").distinct().count()


def carry_over(category: str, before: str, after: str, *, by: str, reason: str) -> int:
    """Let everybody who was qualified for a version be qualified for the one that follows, without a test.

    Each of them gets a row of their own that says who decided and why. What they
    have practised on in a series counts on there too.

    Args:
        category: Name of the category.
        before: Content hash of the version that they are qualified for.
        after: Content hash of the one that follows.
        by: Who decides; an account's name or an opaque key.
        reason: Why the test need not be passed again.

    Returns:
        People; count.

    Raises:
        InputError: If no reason is given.
    """
    if not reason.strip():
        message = "qualifications are carried over for a reason; expected some words, got none"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"qualification {after}")
        _carry_practice(before, after)
        passed = QualificationRow.objects.filter(passed=True)
        had = passed.filter(version=after).values("participant_id")
        people = passed.filter(version=before).exclude(participant_id__in=had)
        who = sorted(set(people.values_list("participant_id", flat=True)))
        tried = dict(
            QualificationRow.objects.filter(participant_id__in=who, version=after)
            .values_list("participant_id")
            .annotate(last=Max("attempt"))
        )
        QualificationRow.objects.bulk_create(
            QualificationRow(
                participant_id=each,
                category=category,
                version=after,
                attempt=tried.get(each, 0) + 1,
                right=0,
                asked=0,
                passed=True,
                by=by,
                reason=reason.strip(),
                created=database_now(),
            )
            for each in who
        )
    return len(who)


def _carry_practice(before: str, after: str) -> None:
    now, gone = database_now(), PracticeRow.objects.filter(version=before)
    PracticeRow.objects.bulk_create(
        [
            PracticeRow(queue_id=queue, participant_id=who, version=after, example=example, created=now)
            for queue, who, example in gone.values_list("queue_id", "participant_id", "example")
        ],
        ignore_conflicts=True,
    )
