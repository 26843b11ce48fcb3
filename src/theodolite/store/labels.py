"""Labels by hand: what people answered about dialogues, outside of any run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from theodolite.domain.annotation import Annotation
from theodolite.domain.errors import Conflict
from theodolite.store.annotations import annotations_in
from theodolite.store.models import AnnotationRow
from theodolite.store.results import ids_of_dialogues, keep_answers


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
        rows = AnnotationRow.objects.bulk_create(_row(one, dialogues[one.dialogue], now) for one in annotations)
        keep_answers((row.id, annotation.answers) for row, annotation in zip(rows, annotations, strict=True))


def are_there_labels() -> bool:
    """Tell whether anybody has ever labelled by hand in this workspace; most of them need not look any further."""
    return AnnotationRow.objects.filter(unit__isnull=True).exists()


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


def _row(annotation: Annotation, dialogue_id: int, now: datetime) -> AnnotationRow:
    return AnnotationRow(
        unit_id=None,
        dialogue_id=dialogue_id,
        annotator=annotation.annotator,
        annotator_version=annotation.annotator_version,
        guideline=annotation.guideline,
        instrument_version=annotation.instrument_version,
        revision=annotation.revision,
        scripted=annotation.scripted,
        created=now,
    )


def _revisions(dialogue_ids: Iterable[int]) -> dict[tuple[int, str, str], set[int]]:
    found: dict[tuple[int, str, str], set[int]] = defaultdict(set)
    rows = AnnotationRow.objects.filter(dialogue_id__in=list(dialogue_ids), unit__isnull=True)
    for dialogue, annotator, instrument, revision in rows.values_list(
        "dialogue_id", "annotator_version", "instrument_version", "revision"
    ):
        found[dialogue, annotator, instrument].add(revision)
    return found
