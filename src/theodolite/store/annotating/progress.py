"""Progress: how far a queue has come, and what its agreement pages are made of.

Every function here takes the same number of queries however much the queue holds.
"""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Count, F, Q, Sum

from theodolite.domain.annotating.promotion import BesidePeople, JudgeStanding
from theodolite.domain.annotating.room import RoomShift
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.errors import InputError
from theodolite.domain.findings.agreeing import (
    CategoryProgress,
    QuestionAgreement,
)
from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import ScaleKind
from theodolite.measurement.annotating import (
    judge_beside_people,
    question_agreement,
)
from theodolite.measurement.answer_arrays import answer_arrays
from theodolite.measurement.order_effects import order_effects
from theodolite.store.annotating.all_answers import AllAnswers, all_answers, state_of
from theodolite.store.annotating.claims import SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.rooms import shifts
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.store.people.persons import profiles


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


def agreement(library: Library, queue: str, category: str) -> list[QuestionAgreement]:
    """Return how far people say the same to each question of a category, with the history of each."""
    guideline = guideline_of(library, queue, category)
    row = queue_of(queue)
    return library.remembered(
        ("agreement", row.pk, category),
        state_of(row, category),
        lambda _: _agreement(guideline, category, all_answers(library, queue, category)),
    )


def _agreement(guideline: Guideline, category: str, given: AllAnswers) -> list[QuestionAgreement]:
    return [
        question_agreement(category, question, AllAnswers.of(given.people, question.name))
        for question in guideline.instrument.questions
        if question.scale.kind is not ScaleKind.TEXT
    ]


def orders(library: Library, queue: str, category: str) -> dict[str, list[OrderEffect]]:
    """Return what the order of asking did to people's answers, question by question; empty where nothing tells."""
    guideline = guideline_of(library, queue, category)
    row = queue_of(queue)
    return library.remembered(
        ("orders", row.pk, category),
        state_of(row, category),
        lambda _: {
            question.name: order_effects(guideline, question, given)
            for question in guideline.instrument.questions
            if len(given := AllAnswers.of(all_answers(library, queue, category).people, question.name))
        },
    )


def beside_people(library: Library, queue: str, judge: JudgeStanding) -> tuple[BesidePeople, ...]:
    """Return how far a judge, in its present version, says what people say, question by question."""
    guideline = guideline_of(library, queue, judge.guideline)
    given = all_answers(library, queue, judge.guideline, judge_version=judge.version).everybody
    return tuple(
        judge_beside_people(question, AllAnswers.of(given, question.name), judge.judge)
        for question in guideline.instrument.questions
        if question.scale.kind is not ScaleKind.TEXT
    )


def attributes(queue: str) -> dict[str, dict[str, str]]:
    """Return what the annotators of a queue say of themselves: attribute to annotator to group."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, state=SUBMITTED)
    people = sorted(set(rows.values_list("participant__key", flat=True)))
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for person, profile in profiles(people).items():
        for name, value in profile.attributes.items():
            found[name][person] = value
    return found


def calibration(library: Library, queue: str) -> list[tuple[str, QuestionAgreement, QuestionAgreement]]:
    """Return for each version and question that was calibrated in rooms the agreement before and after."""
    found: dict[tuple[str, str], list[RoomShift]] = defaultdict(list)
    for one in shifts(queue):
        found[one.version, one.question].append(one)
    result = []
    for (version, name), changed in found.items():
        guideline = library.guideline(version)
        question = guideline.instrument.question(name)
        before = answer_arrays((one.participant, (one.room, one.turn), one.room, one.before) for one in changed)
        after = answer_arrays((one.participant, (one.room, one.turn), one.room, one.after) for one in changed)
        if question.scale.kind is not ScaleKind.TEXT:
            result.append(
                (
                    version,
                    question_agreement(guideline.name, question, before),
                    question_agreement(guideline.name, question, after),
                )
            )
    return result


def guideline_of(library: Library, queue: str, category: str) -> Guideline:
    """Return what a category of a queue asks.

    Raises:
        InputError: If the queue has no such category.
    """
    found = library.design(queue_of(queue).design_id).category(category)
    if found is None:
        message = f"the queue has no category {category!r}"
        raise InputError(message)
    return library.guideline(found.version)
