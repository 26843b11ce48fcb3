"""Standing: which judges of a queue's study are promoted in their present version, and what was decided before."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotating.promotion import Demotion, JudgeStanding, Promotion, seat_of
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.certificate import Certificate
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.store.annotating.claims import LIVE
from theodolite.store.annotating.library import Library
from theodolite.store.filing import filed_records
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow


def judges_of(study: Study) -> list[Annotator]:
    """Return the annotators of a study that are no people."""
    return [one for one in study.annotators if one.kind is not AnnotatorKind.PERSON]


def held_promotions(library: Library, queue: QueueRow) -> list[Promotion]:
    """Return the promotions that hold, of the judges of the queue's study in their present version."""
    study = library.study(queue.study_content_id)
    found = (_held(_decided(library, study.annotator_version(one.name))) for one in judges_of(study))
    return [one for one in found if one is not None]


def standings(library: Library, queue: QueueRow) -> list[JudgeStanding]:
    """Return where each judge of the queue's study stands, in the order of the study."""
    study, held = library.study(queue.study_content_id), []
    for judge in judges_of(study):
        version = study.annotator_version(judge.name)
        past, wanted = _decided(library, version), version_of(study.guideline(judge.guideline))
        certificates = filed_records(library.contents, Certificate, version)
        valid = [one for one in certificates if one.guideline_version == wanted]
        held.append(
            JudgeStanding(
                judge=judge.name,
                guideline=judge.guideline,
                version=version,
                certificate=valid[-1] if valid else None,
                promotion=_held(past),
                past=tuple(past),
                n_read=_n_read(queue, version, wanted),
                n_passes=ReservationRow.objects.filter(
                    item__queue=queue, participant__key=seat_of(judge.name), state__in=LIVE
                ).count(),
            )
        )
    return held


def _decided(library: Library, version: str) -> list[Promotion | Demotion]:
    """Return what was decided about a version of a judge, in order."""
    subject = Promotion.subject(version)
    made = filed_records(library.contents, Promotion, subject)
    ended = filed_records(library.contents, Demotion, subject)
    # The end of a promotion has its number, and stands after it.
    return sorted([*made, *ended], key=lambda one: (one.number, isinstance(one, Demotion)))


def _held(past: Sequence[Promotion | Demotion]) -> Promotion | None:
    last = past[-1] if past else None
    return last if isinstance(last, Promotion) else None


def _n_read(queue: QueueRow, judge_version: str, guideline_version: str) -> int:
    items = WorkItemRow.objects.filter(queue=queue, version=guideline_version)
    rows = AnnotationRow.objects.filter(
        unit__isnull=False,
        annotator_version=judge_version,
        instrument_version=guideline_version,
        dialogue_id__in=items.values("dialogue_id"),
    )
    return rows.values("dialogue_id").distinct().count()
