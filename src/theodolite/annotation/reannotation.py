"""New versions of a category: first use, qualifications carried over, dialogues annotated again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, QuerySet

from theodolite.annotation.records import RecordCache
from theodolite.domain.annotating.rewording import DialogueAnswers, PastAnswers
from theodolite.domain.errors import Conflict, InputError
from theodolite.store.annotating.queues import BY_JUDGE, SUBMITTED, add_items, queue_of
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow
from theodolite.store.models.annotating import PracticeRow, QualificationRow, ReservationRow, RoutedRow, WorkItemRow


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
        message = "a reason is required to keep qualifications; got none"
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


def past_answers(study: str, category: str) -> list[PastAnswers]:
    """Return how much people have answered in a category by version and question, the version used last first.

    Args:
        study: Name of the study.
        category: Name of the category.
    """
    rows = AnswerRow.objects.filter(annotation__in=_sittings(study, category))
    counted = rows.values("annotation__instrument_version", "question").annotate(
        n=Count("id"), dialogues=Count("annotation__dialogue", distinct=True), last=Max("annotation__id")
    )
    latest: dict[str, int] = {}
    for row in counted:
        version = row["annotation__instrument_version"]
        latest[version] = max(latest.get(version, 0), row["last"])
    found = [
        PastAnswers(
            version=row["annotation__instrument_version"],
            question=row["question"],
            n_answers=row["n"],
            n_dialogues=row["dialogues"],
        )
        for row in counted
    ]
    return sorted(found, key=lambda one: (-latest[one.version], one.question))


def dialogue_answers(study: str, category: str, version: str, question: str) -> list[DialogueAnswers]:
    """Return what people answered to one question by one version, dialogue by dialogue.

    Args:
        study: Name of the study.
        category: Name of the category.
        version: Content hash of the guideline.
        question: Name of the question.
    """
    sittings = _sittings(study, category).filter(instrument_version=version)
    rows = AnswerRow.objects.filter(annotation__in=sittings, question=question).order_by("id")
    told: dict[str, tuple[str, str]] = {}
    said: dict[str, list[tuple[str, int | None, str | None]]] = defaultdict(list)
    for key, scenario, cluster, annotator, turn, value in rows.values_list(
        "annotation__dialogue__unit__key",
        "annotation__dialogue__scenario",
        "annotation__dialogue__cluster",
        "annotation__annotator",
        "turn",
        "value",
    ):
        told[key] = scenario, cluster
        said[key].append((annotator, turn, value))
    return [
        DialogueAnswers(dialogue=key, scenario=told[key][0], cluster=told[key][1], said=tuple(answers))
        for key, answers in said.items()
    ]


def _sittings(study: str, category: str) -> QuerySet[AnnotationRow]:
    """Return people's sittings in a category, the latest revision of each, without those that were made void."""
    later = AnnotationRow.objects.filter(
        dialogue=OuterRef("dialogue"),
        annotator=OuterRef("annotator"),
        guideline=OuterRef("guideline"),
        instrument_version=OuterRef("instrument_version"),
        revision__gt=OuterRef("revision"),
    )
    reservations = ReservationRow.objects.filter(annotation__isnull=False)
    voided, judged = reservations.exclude(state=SUBMITTED), reservations.filter(BY_JUDGE)
    rows = AnnotationRow.objects.filter(guideline=category, unit__isnull=True, dialogue__unit__run__study=study)
    return rows.filter(~Exists(later)).exclude(id__in=[*_numbers(voided), *_numbers(judged)])


def _numbers(reservations: QuerySet[ReservationRow]) -> list[int]:
    return [number for number in reservations.values_list("annotation_id", flat=True) if number]


def routed_counts(queue: str) -> tuple[int, int]:
    """Return how many dialogues went on with a violation, and how many without one; counts."""
    rows = RoutedRow.objects.filter(queue__token=queue).order_by("number")
    last: dict[int, bool | None] = dict(rows.values_list("dialogue_id", "violation"))
    return sum(1 for one in last.values() if one), sum(1 for one in last.values() if one is False)


def annotate_again(records: RecordCache, queue: str, category: str, dialogues: Sequence[str], *, version: str) -> int:
    """Put dialogues into a queue anew, to be annotated by the version that it asks now; return how many; count.

    What was answered before stays as it is, and so does where a dialogue went. Dialogues that
    the queue asks about by that version already are not put into it twice.

    Args:
        records: Where the queue's design is kept.
        queue: Token of the queue.
        category: Name of the category.
        dialogues: Keys of dialogues that are stored.
        version: Content hash that the queue must ask by now.

    Raises:
        Conflict: If it asks by another version.
    """
    with transaction.atomic():
        one_at_a_time(f"queue {queue}")
        row = queue_of(queue)
        design = records.design(row.design_id)
        asked = design.category(category)
        if asked is None or asked.version != version:
            message = f"the queue does not contain `{category}` in this version; publish it, and fill the queue again"
            raise Conflict(message)
        new = [key for key in dialogues if key not in asked_by(queue, category, version)]
        number = (WorkItemRow.objects.filter(queue=row, category=category).aggregate(n=Max("again"))["n"] or 0) + 1
        for start in range(0, len(new), CHUNK):
            found = list(DialogueRow.objects.filter(unit__key__in=new[start : start + CHUNK]).select_related("unit"))
            add_items(row, design, found, [category], again=number)
    return len(new)


def asked_by(queue: str, category: str, version: str) -> frozenset[str]:
    """Return the keys of dialogues that a queue asks, or has asked, about by a version."""
    items = WorkItemRow.objects.filter(queue__token=queue, category=category, version=version)
    return frozenset(items.values_list("dialogue__unit__key", flat=True))
