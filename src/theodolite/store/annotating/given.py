"""What was submitted for an item, and how much of it differs."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.assessment.discrepancies import discrepancies
from theodolite.domain.annotation import Answer
from theodolite.store.annotating.claims import SUBMITTED
from theodolite.store.annotating.library import Library
from theodolite.store.annotations import annotations_in
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import ReservationRow, WorkItemRow


def given_to(item: WorkItemRow) -> Mapping[str, tuple[Answer, ...]]:
    """Return the answers of the submitted passes of an item, latest revisions, by participant."""
    rows = ReservationRow.objects.filter(item=item, state=SUBMITTED, annotation__isnull=False).order_by("id")
    people = dict(rows.values_list("annotation_id", "participant__key"))
    found = AnnotationRow.objects.filter(id__in=list(people)).order_by("id")
    return {people[row.pk]: one.answers for row, one in zip(found, annotations_in(list(found)), strict=True)}


def salt_of(item: WorkItemRow) -> str:
    """Return what decides the order of positions at an item."""
    return f"{item.queue.salt} {item.pk}"


def count_disputed(library: Library, item: WorkItemRow) -> int:
    """Write down how many questions the passes of an item did not answer alike, and return it; count."""
    found = discrepancies(library.guideline(item.version), given_to(item), salt_of(item))
    item.disputed = len(found)
    WorkItemRow.objects.filter(pk=item.pk).update(disputed=item.disputed)
    return item.disputed
