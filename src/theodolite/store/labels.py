"""Labels by hand: what people answered about dialogues, outside of any run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from theodolite.domain.annotation import Annotation
from theodolite.domain.errors import Conflict
from theodolite.store.annotations import annotations_in
from theodolite.store.models import AnnotationRow
from theodolite.store.results import annotation_row, ids_of_dialogues, keep_answers
from theodolite.store.statements import fetched, insert


def keep_labels(annotations: Sequence[Annotation]) -> None:
    """Store annotations that people gave by hand; each is a further revision, none takes another's place.

    Raises:
        Conflict: If a revision of one of them is there already.
        NotFound: If a dialogue was never kept.
    """
    now = timezone.now()
    dialogues = ids_of_dialogues(annotation.dialogue for annotation in annotations)
    taken = _revisions(dialogues.values())
    for annotation in annotations:
        place = (dialogues[annotation.dialogue], annotation.annotator_version, annotation.instrument_version)
        if annotation.revision in taken[place]:
            message = (
                f"revision {annotation.revision} of the labels by `{annotation.annotator}` is there already;"
                " read the labels again and store the next one"
            )
            raise Conflict(message)
    with transaction.atomic():
        last = AnnotationRow.objects.aggregate(last=Max("id"))["last"] or 0
        insert(AnnotationRow, (annotation_row(None, dialogues[one.dialogue], one, now) for one in annotations))
        ids = _ids_since(last)
        keep_answers((ids[_place(one, dialogues)], one.answers) for one in annotations)


def are_there_labels() -> bool:
    """Tell whether anybody has ever labelled by hand in this workspace; most of them need not look any further."""
    return AnnotationRow.objects.filter(unit__isnull=True).exists()


def open_assignments(study: str) -> list[tuple[str, str, str]]:
    """Return the dialogues that annotators of a study's queues have reserved and not submitted.

    Returns:
        Key of the participant, name of the guideline and key of the dialogue, of each reservation.
    """
    from theodolite.domain.annotating.work import ReservationState
    from theodolite.store.models.annotating import ReservationRow

    rows = ReservationRow.objects.filter(state=ReservationState.RESERVED.value, item__queue__study=study)
    keys = rows.order_by("id").values_list("participant__key", "item__category", "item__dialogue__unit__key")
    return list(keys)


def labels_of(unit_ids: Sequence[int]) -> list[Annotation]:
    """Return what people labelled by hand of the dialogues that some units brought, in the order of the units.

    There is one annotation for each dialogue, annotator and version of the instrument: the latest revision.
    """
    rows = AnnotationRow.objects.filter(dialogue__unit_id__in=unit_ids, unit__isnull=True)
    latest = {
        (row.dialogue_id, row.annotator, row.instrument_version): row
        for row in rows.select_related("dialogue__unit").order_by("id")
    }
    place = {unit_id: number for number, unit_id in enumerate(unit_ids)}
    return annotations_in(sorted(latest.values(), key=lambda row: (place[row.dialogue.unit_id], row.id)))


_Place: TypeAlias = tuple[int, bytes, bytes, int]
"""What there is one annotation of: dialogue, hashes of annotator and instrument, revision."""


def _place(annotation: Annotation, dialogues: Mapping[str, int]) -> _Place:
    versions = bytes.fromhex(annotation.annotator_version), bytes.fromhex(annotation.instrument_version)
    return (dialogues[annotation.dialogue], *versions, annotation.revision)


def _ids_since(last: int) -> dict[_Place, int]:
    """Return the numbers of the annotations by hand that were entered after one."""
    rows = AnnotationRow.objects.filter(id__gt=last, unit__isnull=True)
    columns = rows.values_list("id", "dialogue_id", "annotator_version", "instrument_version", "revision")
    return {
        (dialogue, bytes(annotator), bytes(instrument), revision): number
        for number, dialogue, annotator, instrument, revision in fetched(columns)
    }


def _revisions(dialogue_ids: Iterable[int]) -> dict[tuple[int, str, str], set[int]]:
    found: dict[tuple[int, str, str], set[int]] = defaultdict(set)
    rows = AnnotationRow.objects.filter(dialogue_id__in=list(dialogue_ids), unit__isnull=True)
    for dialogue, annotator, instrument, revision in rows.values_list(
        "dialogue_id", "annotator_version", "instrument_version", "revision"
    ):
        found[dialogue, annotator, instrument].add(revision)
    return found
