"""Again: what was answered by each version of a category, and dialogues that are annotated anew by the next one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet

from theodolite.domain.annotating.rewording import DialogueAnswers, PastAnswers
from theodolite.domain.errors import Conflict
from theodolite.store.annotating.claims import BY_JUDGE, SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import add_items, queue_of
from theodolite.store.ledger import CHUNK, one_at_a_time
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow
from theodolite.store.models.annotating import ReservationRow, RoutedRow, WorkItemRow


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
    claims = ReservationRow.objects.filter(annotation__isnull=False)
    voided, judged = claims.exclude(state=SUBMITTED), claims.filter(BY_JUDGE)
    rows = AnnotationRow.objects.filter(guideline=category, unit__isnull=True, dialogue__unit__run__study=study)
    return rows.filter(~Exists(later)).exclude(id__in=[*_numbers(voided), *_numbers(judged)])


def _numbers(claims: QuerySet[ReservationRow]) -> list[int]:
    return [number for number in claims.values_list("annotation_id", flat=True) if number]


def routed_counts(queue: str) -> tuple[int, int]:
    """Return how many dialogues went on with a violation, and how many without one; counts."""
    rows = RoutedRow.objects.filter(queue__token=queue).order_by("number")
    last: dict[int, bool | None] = dict(rows.values_list("dialogue_id", "violation"))
    return sum(1 for one in last.values() if one), sum(1 for one in last.values() if one is False)


def annotate_again(library: Library, queue: str, category: str, dialogues: Sequence[str], *, version: str) -> int:
    """Put dialogues into a queue anew, to be annotated by the version that it asks now; return how many; count.

    What was answered before stays as it is, and so does where a dialogue went. Dialogues that
    the queue asks about by that version already are not put into it twice.

    Args:
        library: Where the queue's design is kept.
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
        design = library.design(row.design_id)
        asked = design.category(category)
        if asked is None or asked.version != version:
            message = f"the queue does not ask `{category}` in this version; publish it, and fill the queue again"
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
