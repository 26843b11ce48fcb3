"""Progress: how far a queue has come, and what its agreement pages are made of.

Every function here takes the same number of queries however much the queue holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db.models import Count, F, Q, Sum

from theodolite.domain.agreeing import CategoryProgress, GroupAgreement, PairAgreement, PlannedPasses, QuestionAgreement
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.number import Undefined
from theodolite.domain.room import RoomShift
from theodolite.domain.work import ItemState
from theodolite.measurement.annotating import (
    GivenAnswer,
    groups_of_annotators,
    model_agreements,
    pair_agreements,
    planned_passes,
    question_agreement,
)
from theodolite.store.annotating.claims import RESERVED, SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.rooms import shifts
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.store.people.persons import profiles

Given = Mapping[str, list[GivenAnswer]]
"""Question to the answers of everybody."""


def progress(queue: str) -> list[CategoryProgress]:
    """Return how far each category of a queue has come, in the order in which they were opened."""
    rows = WorkItemRow.objects.filter(queue__token=queue).values("category")
    counted = rows.annotate(
        n=Count("id"),
        complete=Count("id", filter=Q(state__in=[ItemState.COMPLETE.value, ItemState.FROZEN.value])),
        frozen=Count("id", filter=Q(state=ItemState.FROZEN.value)),
        aside=Count("id", filter=Q(state=ItemState.ASIDE.value)),
        wanted=Sum("passes"),
        finished=Sum("done"),
        taken=Sum(F("live") - F("done")),
        differing=Count("id", filter=Q(disputed__gt=0)),
    )
    return [
        CategoryProgress(
            category=row["category"],
            n_items=row["n"],
            n_complete=row["complete"],
            n_frozen=row["frozen"],
            n_aside=row["aside"],
            n_passes=row["wanted"],
            n_done=row["finished"],
            n_reserved=row["taken"],
            n_disputed=row["differing"],
        )
        for row in counted.order_by("category")
    ]


def own_progress(queue: str, participant: str, *, since: datetime | None = None) -> dict[str, int]:
    """Return how many dialogues an annotator has submitted by category, all or since a moment; counts."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, participant__key=participant, state=SUBMITTED)
    rows = rows.filter(submitted__gte=since) if since else rows
    return dict(rows.values_list("item__category").annotate(n=Count("id")))


def people_progress(queue: str) -> list[tuple[str, int, int]]:
    """Return annotator, submitted and reserved items, by name; counts, never an order of merit."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, state__in=[SUBMITTED, RESERVED])
    counted = rows.values_list("participant__key").annotate(
        done=Count("id", filter=Q(state=SUBMITTED)), at_work=Count("id", filter=Q(state=RESERVED))
    )
    return sorted(counted)


def agreement(library: Library, queue: str, category: str) -> list[QuestionAgreement]:
    """Return how far people say the same to each question of a category, with the history of each."""
    guideline, given = _guideline(library, queue, category), _given(queue, category)
    return [
        question_agreement(category, question, given.get(question.name, []))
        for question in guideline.instrument.questions
        if question.scale.kind is not ScaleKind.TEXT
    ]


def pairs(library: Library, queue: str, category: str, question: str) -> tuple[PairAgreement, ...]:
    """Return how far every two people say the same to one question."""
    asked = _guideline(library, queue, category).instrument.question(question)
    return pair_agreements(asked, _given(queue, category, question).get(question, []))


def models_beside_people(library: Library, queue: str, category: str, question: str) -> tuple[PairAgreement, ...]:
    """Return how far judges, who read the same dialogues in a run, say what people say; they are always marked."""
    asked = _guideline(library, queue, category).instrument.question(question)
    people = _given(queue, category, question).get(question, [])
    return model_agreements(asked, people, _shadows(queue, category, question))


def plan_passes(
    library: Library, queue: str, category: str, question: str, half_width: float
) -> tuple[PlannedPasses, ...] | Undefined:
    """Return how many dialogues it takes, with 1, 2, ... passes, for an interval of a wanted half-width."""
    asked = _guideline(library, queue, category).instrument.question(question)
    return planned_passes(asked, _given(queue, category, question).get(question, []), half_width)


def attributes(queue: str) -> dict[str, dict[str, str]]:
    """Return what the annotators of a queue say of themselves: attribute to annotator to group."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, state=SUBMITTED)
    people = sorted(set(rows.values_list("participant__key", flat=True)))
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for person, profile in profiles(people).items():
        for name, value in profile.attributes.items():
            found[name][person] = value
    return found


def agreement_of_groups(
    library: Library, queue: str, category: str, question: str, attribute: str
) -> tuple[GroupAgreement, ...]:
    """Return how far annotators of each self-described group agree within it and with the others."""
    asked = _guideline(library, queue, category).instrument.question(question)
    given = _given(queue, category, question).get(question, [])
    return groups_of_annotators(asked, given, attributes(queue).get(attribute, {}))


def calibration(library: Library, queue: str) -> list[tuple[str, QuestionAgreement, QuestionAgreement]]:
    """Return for each version and question that was calibrated in rooms the agreement before and after."""
    found: dict[tuple[str, str], list[RoomShift]] = defaultdict(list)
    for one in shifts(queue):
        found[one.version, one.question].append(one)
    result = []
    for (version, name), changed in found.items():
        guideline = library.guideline(version)
        question = guideline.instrument.question(name)
        before = [GivenAnswer(one.participant, (one.room, one.turn), one.room, one.before) for one in changed]
        after = [GivenAnswer(one.participant, (one.room, one.turn), one.room, one.after) for one in changed]
        if question.scale.kind is not ScaleKind.TEXT:
            result.append(
                (
                    version,
                    question_agreement(guideline.name, question, before),
                    question_agreement(guideline.name, question, after),
                )
            )
    return result


def _guideline(library: Library, queue: str, category: str) -> Guideline:
    found = library.design(queue_of(queue).design_id).category(category)
    if found is None:
        message = f"the queue has no category {category!r}"
        raise InputError(message)
    return library.guideline(found.version)


def _given(queue: str, category: str, question: str = "") -> Given:
    """Return everybody's submitted answers by question, latest revisions; two queries."""
    claims = ReservationRow.objects.filter(
        item__queue__token=queue, item__category=category, state=SUBMITTED, annotation__isnull=False
    )
    rows = claims.values_list("annotation_id", "participant__key", "item__dialogue_id", "submitted")
    whose = {annotation: (person, dialogue, _seconds(at)) for annotation, person, dialogue, at in rows}
    answers = AnswerRow.objects.filter(annotation_id__in=claims.values("annotation_id"))
    answers = answers.filter(question=question) if question else answers
    found: dict[str, list[GivenAnswer]] = defaultdict(list)
    for annotation, name, turn, value in answers.values_list("annotation_id", "question", "turn", "value").iterator():
        person, dialogue, at = whose[annotation]
        found[name].append(GivenAnswer(person, (dialogue, turn), dialogue, value, at))
    return found


def _shadows(queue: str, category: str, question: str) -> Mapping[str, list[GivenAnswer]]:
    """Return what judges answered about the dialogues of a category in the version that people answer."""
    items = WorkItemRow.objects.filter(queue__token=queue, category=category)
    passes = AnnotationRow.objects.filter(
        unit__isnull=False,
        guideline=category,
        dialogue_id__in=items.values("dialogue_id"),
        instrument_version__in=items.values("version"),
    )
    rows = AnswerRow.objects.filter(annotation__in=passes, question=question).order_by("annotation__revision")
    latest: dict[tuple[str, int, int | None], GivenAnswer] = {}
    for judge, dialogue, turn, value in rows.values_list(
        "annotation__annotator", "annotation__dialogue_id", "turn", "value"
    ):
        latest[judge, dialogue, turn] = GivenAnswer(judge, (dialogue, turn), dialogue, value)
    found: dict[str, list[GivenAnswer]] = defaultdict(list)
    for (judge, _, _), one in latest.items():
        found[judge].append(one)
    return found


def _seconds(moment: datetime | None) -> float:
    return moment.astimezone(UTC).timestamp() if moment else 0.0
