"""All answers: what people and judges answered in a category, wherever they did, read in two queries.

People annotate in the queue, on the page of `theodolite label`, in label files and
in other tools whose labels were imported: all of them are annotations of the same
dialogues, and count alike. A claim that was made void counts no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, Sum

from theodolite.measurement.sheets import AnswerColumns, AnswerFacts, SittingFacts, columns_by_question, columns_of
from theodolite.store.annotating.claims import BY_JUDGE, SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.standing import judges_of
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow
from theodolite.store.statements import fetched

_MICROSECONDS, _SECOND = 1_000_000, 2

_NOBODY = columns_of(())


@dataclass(frozen=True, slots=True, kw_only=True)
class AllAnswers:
    """The answers of a category.

    Attributes:
        people: Question to what people answered, each for the first time they met a dialogue.
        everybody: The same with judges, under their names in the study; empty where no judge has read anything.
        repeats: The same of people, with what they answered when they met a dialogue again; empty where nobody did.
    """

    people: dict[str, AnswerColumns]
    everybody: dict[str, AnswerColumns]
    repeats: dict[str, AnswerColumns]

    @staticmethod
    def of(answers: dict[str, AnswerColumns], question: str) -> AnswerColumns:
        """Return the answers to a question; none where nobody has answered it."""
        return answers.get(question, _NOBODY)


def all_answers(library: Library, queue: str, category: str, question: str = "", judge_version: str = "") -> AllAnswers:
    """Return what was answered in a category, in the versions that its items ask.

    Read once for each state of the answers: who looks again meanwhile waits for
    nothing but the question whether anything has changed.

    Args:
        library: Where the study is kept.
        queue: Token of the queue.
        category: Name of the category.
        question: Only this question; empty for all.
        judge_version: Only this version of a judge beside people; empty for the latest of each judge.
    """
    row = queue_of(queue)
    key = ("answers", question, judge_version, *state_of(row, category))
    return library.remembered(key, lambda: _read(library, row, category, question, judge_version))


def state_of(queue: QueueRow, category: str) -> tuple[Any, ...]:
    """Return what changes whenever the answers of a category do; two queries that read no answer."""
    annotations = AnnotationRow.objects.filter(_annotations(queue, category))
    claims = ReservationRow.objects.filter(item__queue=queue, item__category=category, annotation__isnull=False)
    told = annotations.aggregate(n=Count("id"), last=Max("id"), made=Max("created"))
    held = claims.values_list("state").annotate(n=Count("id"), which=Sum("annotation_id"), last=Max("submitted"))
    study = (queue.pk, category, queue.study_content_id, queue.design_id)
    return (*study, *told.values(), *sorted(held.order_by()))


def _read(library: Library, row: QueueRow, category: str, question: str, judge_version: str) -> AllAnswers:
    study = library.study(row.study_content_id)
    models = frozenset(one.name for one in judges_of(study))
    sittings, rows = _sittings(row, category, models, judge_version), _rows(row, category, question)
    judges = frozenset(number for number, one in sittings.items() if one.annotator in models)
    first, again = _rounds(sittings, rows)
    of_people = [one for one in first if one[0] not in judges] if judges else first
    again = [one for one in again if one[0] not in judges]
    return AllAnswers(
        people=columns_by_question(sittings, of_people),
        everybody=columns_by_question(sittings, first) if judges else {},
        repeats=columns_by_question(sittings, [*of_people, *again]) if again else {},
    )


def _rounds(
    sittings: Mapping[int, object], rows: Iterable[tuple[Any, ...]]
) -> tuple[list[AnswerFacts], list[AnswerFacts]]:
    """Return the answers that count, and those that people gave when they met a dialogue for the second time."""
    first, again = [], []
    for number, question, turn, value, replicate in rows:
        if number in sittings:
            if replicate == 1:
                first.append((number, question, turn, value))
            elif replicate == _SECOND:
                again.append((number, question, turn, value))
    return first, again


def _annotations(queue: QueueRow, category: str) -> Q:
    items = WorkItemRow.objects.filter(queue=queue, category=category)
    return Q(
        guideline=category,
        dialogue_id__in=items.values("dialogue_id"),
        instrument_version__in=items.values("version"),
    )


def _sittings(queue: QueueRow, category: str, models: frozenset[str], version: str) -> dict[int, SittingFacts]:
    """Return who sat where and when: of each annotator and dialogue the latest revision, if it counts."""
    claims = ReservationRow.objects.filter(
        ~BY_JUDGE, item__queue=queue, item__category=category, annotation__isnull=False
    )
    claimed = {
        number: (person, state, at)
        for number, person, state, at in fetched(
            claims.values_list("annotation_id", "participant__key", "state", "submitted")
        )
    }
    rows = AnnotationRow.objects.filter(_annotations(queue, category))
    if version:
        rows = rows.filter(~Q(annotator__in=models) | Q(annotator_version=version))
    columns = rows.order_by("revision", "id").values_list("id", "dialogue_id", "annotator", "created")
    latest = {(dialogue, name): (number, made) for number, dialogue, name, made in fetched(columns)}
    found = {}
    for (dialogue, name), (number, made) in latest.items():
        person, state, at = claimed.get(number, (name, SUBMITTED, made))
        if state == SUBMITTED:
            found[number] = SittingFacts(person, dialogue, (at or 0) / _MICROSECONDS)
    return found


def _rows(queue: QueueRow, category: str, question: str) -> list[tuple[Any, ...]]:
    annotations = AnnotationRow.objects.filter(_annotations(queue, category))
    answers = AnswerRow.objects.filter(annotation_id__in=annotations.values("id"))
    answers = answers.filter(question=question) if question else answers
    return fetched(answers.values_list("annotation_id", "question", "turn", "value", "replicate"))
