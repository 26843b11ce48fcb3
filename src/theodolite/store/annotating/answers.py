"""The repository of submitted answers of a queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, Count, Max, Q, Sum, TextField
from django.db.models.sql.compiler import SQLCompiler

from theodolite.domain.annotating.work import ItemState
from theodolite.domain.annotation import Answer
from theodolite.domain.run import UnitState
from theodolite.store.annotating.reservations import SUBMITTED
from theodolite.store.annotations import annotations_in
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import (
    QueueRow,
    ReservationRow,
    WorkItemRow,
)


def given_to(item: WorkItemRow) -> Mapping[str, tuple[Answer, ...]]:
    """Return the answers of the submitted passes of an item, latest revisions, by participant."""
    rows = ReservationRow.objects.filter(item=item, state=SUBMITTED, annotation__isnull=False).order_by("id")
    people = dict(rows.values_list("annotation_id", "participant__key"))
    found = AnnotationRow.objects.filter(id__in=list(people)).order_by("id")
    return {people[row.pk]: one.answers for row, one in zip(found, annotations_in(list(found)), strict=True)}


def state_of(queue: QueueRow, category: str) -> tuple[Any, ...]:
    """Return what changes whenever the answers of a category do; three queries that read no answer."""
    annotations = AnnotationRow.objects.filter(annotations_of(queue, category))
    reservations = ReservationRow.objects.filter(item__queue=queue, item__category=category, annotation__isnull=False)
    told = annotations.aggregate(n=Count("id"), last=Max("id"), made=Max("created"))
    held = reservations.values_list("state").annotate(n=Count("id"), which=Sum("annotation_id"), last=Max("submitted"))
    study = (queue.study_content_id, queue.design_id)
    return (*study, *told.values(), n_withdrawn(queue, category), *sorted(held.order_by()))


def n_withdrawn(queue: QueueRow, category: str) -> int:
    """Return of how many dialogues of a category the answers were deleted, while their annotations stay; count."""
    items = WorkItemRow.objects.filter(queue=queue, category=category, state=ItemState.ASIDE.value)
    return items.filter(dialogue__unit__state=UnitState.WITHDRAWN.value).count()


class Listed(Aggregate):
    """Numbers of a group with commas between them: a tenth of the time that it takes to read them one by one."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """Say it as PostgreSQL does."""
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')")


def annotations_of(queue: QueueRow, category: str) -> Q:
    """Return the condition that an annotation answers a category of a queue in a version that its items ask."""
    items = WorkItemRow.objects.filter(queue=queue, category=category)
    return Q(
        guideline=category,
        dialogue_id__in=items.values("dialogue_id"),
        instrument_version__in=items.values("version"),
    )
