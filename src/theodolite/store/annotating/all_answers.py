"""All answers: what people and judges answered in a category, wherever they did.

Answers are only ever added, so that those read before are kept as columns of
numbers, and whoever looks again reads the new ones alone.

People annotate in the queue, on the page of `theodolite label`, in label files and
in other tools whose labels were imported: all of them are annotations of the same
dialogues, and count alike. A claim that was made void counts no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, Count, Max, Q, QuerySet, Sum, TextField
from django.db.models.functions import Coalesce
from django.db.models.sql.compiler import SQLCompiler

from theodolite.domain.annotating.work import ItemState
from theodolite.domain.run import UnitState
from theodolite.measurement.answer_arrays import AnswerArrays, answer_arrays
from theodolite.measurement.queue_answers import AnnotationFacts, AnswerGroup, QueueAnswers
from theodolite.store.annotating.claims import BY_JUDGE, SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.standing import judges_of
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow
from theodolite.store.statements import fetched

_MICROSECONDS, _SECOND = 1_000_000, 2

_NOBODY = answer_arrays(())


@dataclass(frozen=True, slots=True, kw_only=True)
class AllAnswers:
    """The answers of a category.

    Attributes:
        people: Question to what people answered, each for the first time they met a dialogue.
        everybody: The same with judges, under their names in the study; empty where no judge has read anything.
        repeats: The same of people, with what they answered when they met a dialogue again; empty where nobody did.
    """

    people: dict[str, AnswerArrays]
    everybody: dict[str, AnswerArrays]
    repeats: dict[str, AnswerArrays]

    @staticmethod
    def of(answers: dict[str, AnswerArrays], question: str) -> AnswerArrays:
        """Return the answers to a question; none where nobody has answered it."""
        return answers.get(question, _NOBODY)


def all_answers(library: Library, queue: str, category: str, judge_version: str = "") -> AllAnswers:
    """Return what was answered in a category, in the versions that its items ask.

    Worked out once for each state of the answers: who looks again meanwhile waits
    for nothing but the question whether anything has changed.

    Args:
        library: Where the study is kept.
        queue: Token of the queue.
        category: Name of the category.
        judge_version: Only this version of a judge beside people; empty for the latest of each judge.
    """
    row = queue_of(queue)
    key = ("answers", row.pk, category, judge_version)
    state = state_of(row, category)
    return library.remembered(key, state, lambda _: _answers(library, row, category, judge_version))


def state_of(queue: QueueRow, category: str) -> tuple[Any, ...]:
    """Return what changes whenever the answers of a category do; three queries that read no answer."""
    annotations = AnnotationRow.objects.filter(_annotations(queue, category))
    claims = ReservationRow.objects.filter(item__queue=queue, item__category=category, annotation__isnull=False)
    told = annotations.aggregate(n=Count("id"), last=Max("id"), made=Max("created"))
    held = claims.values_list("state").annotate(n=Count("id"), which=Sum("annotation_id"), last=Max("submitted"))
    study = (queue.study_content_id, queue.design_id)
    return (*study, *told.values(), _n_withdrawn(queue, category), *sorted(held.order_by()))


def _n_withdrawn(queue: QueueRow, category: str) -> int:
    """Return of how many dialogues of a category the answers were deleted, while their annotations stay; count."""
    items = WorkItemRow.objects.filter(queue=queue, category=category, state=ItemState.ASIDE.value)
    return items.filter(dialogue__unit__state=UnitState.WITHDRAWN.value).count()


def _answers(library: Library, row: QueueRow, category: str, judge_version: str) -> AllAnswers:
    study = library.study(row.study_content_id)
    models = frozenset(one.name for one in judges_of(study))
    table, annotations = _table(library, row, category), _annotators(row, category, models, judge_version)
    of_people = {number: one for number, one in annotations.items() if one.annotator not in models}
    has_judges = len(of_people) < len(annotations)
    people = table.arrays(of_people)
    again = table.arrays(of_people, replicates=_SECOND) if table.replicates > 1 else {}
    n_again, n_first = (sum(map(len, found.values())) for found in (again, people))
    return AllAnswers(
        people=people,
        everybody=table.arrays(annotations) if has_judges else {},
        repeats=again if n_again > n_first else {},
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """Answers that were read, and of which annotations: how many there were, the last one's number, withdrawals."""

    table: QueueAnswers
    n: int
    last: int
    n_withdrawn: int


_NOTHING = _Known(QueueAnswers(), 0, 0, 0)


def _table(library: Library, queue: QueueRow, category: str) -> QueueAnswers:
    """Return the answers of every annotation of a category; only those that are new are read."""
    annotations = AnnotationRow.objects.filter(_annotations(queue, category))
    told = annotations.aggregate(n=Count("id"), last=Max("id"))
    gone = _n_withdrawn(queue, category)
    state = (queue.design_id, told["n"], told["last"], gone)
    key = ("table", queue.pk, category)
    return library.remembered(key, state, lambda known: _grown(known, annotations, gone)).table


def _grown(known: _Known | None, annotations: QuerySet[AnnotationRow], n_withdrawn: int) -> _Known:
    known = known or _NOTHING
    told = annotations.aggregate(n=Count("id"), last=Max("id"), before=Count("id", filter=Q(id__lte=known.last)))
    if (told["before"], n_withdrawn) != (known.n, known.n_withdrawn):
        known = _NOTHING  # some were taken away, or came late under an earlier number
    new = annotations.filter(id__gt=known.last, id__lte=told["last"] or 0)
    rows = AnswerRow.objects.filter(annotation_id__in=new.values("id")).annotate(at=Coalesce("turn", 0)).order_by()
    listed = rows.values_list("question", "at", "value", "replicate").annotate(annotations=_Listed("annotation_id"))
    groups = [AnswerGroup(*group) for group in fetched(listed)]
    return _Known(known.table.grown(groups), told["n"], told["last"] or 0, n_withdrawn)


class _Listed(Aggregate):
    """Numbers of a group with commas between them: a tenth of the time that it takes to read them one by one."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """Say it as PostgreSQL does."""
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')")


def _annotations(queue: QueueRow, category: str) -> Q:
    items = WorkItemRow.objects.filter(queue=queue, category=category)
    return Q(
        guideline=category,
        dialogue_id__in=items.values("dialogue_id"),
        instrument_version__in=items.values("version"),
    )


def _annotators(queue: QueueRow, category: str, models: frozenset[str], version: str) -> dict[int, AnnotationFacts]:
    """Return annotator, dialogue and time of each annotation that counts: the latest of each annotator and dialogue."""
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
    columns = rows.order_by("revision", "id").values_list(
        "id", "dialogue_id", "annotator", "created", "shown", "sitting"
    )
    latest = {(dialogue, name): (number, *rest) for number, dialogue, name, *rest in fetched(columns)}
    found = {}
    for (dialogue, name), (number, made, shown, place) in latest.items():
        person, state, at = claimed.get(number, (name, SUBMITTED, made))
        if state == SUBMITTED:
            found[number] = AnnotationFacts(person, dialogue, (at or 0) / _MICROSECONDS, shown, place)
    return found
