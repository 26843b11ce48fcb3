"""Comparisons: sessions whose questionnaires and annotations are both complete, read page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from theodolite.annotation.review import waiting_items
from theodolite.domain.annotation import Annotation
from theodolite.domain.identity import version_of
from theodolite.domain.run import Run, UnitKind, UnitState
from theodolite.domain.session import SessionState
from theodolite.domain.study import Study
from theodolite.store.event_responses import about_current
from theodolite.store.ledger import id_of_run
from theodolite.store.models import AnnotationRow, UnitRow
from theodolite.store.models.events import LiveDialogueRow, ResponseRow, SessionRow
from theodolite.store.results import annotations_of, by_hand, labels_of
from theodolite.testing.people import current_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledSession:
    """A session with a submitted questionnaire and complete annotations.

    Attributes:
        key: Key of the session.
        level: Level of testing.
        application: Name of the application.
        n_annotations: Annotations of its dialogues, those of judges included; count.
        n_categories: Categories of these annotations; count.
    """

    key: str
    level: str
    application: str
    n_annotations: int
    n_categories: int


def comparison_counts(study: Study, run: Run) -> tuple[int, int]:
    """Return the sessions that can be compared, and those with answers that still need annotation; counts."""
    answered = _answered(study)
    n_settled = _decided(answered, study, run).count()
    return n_settled, answered.count() - n_settled


def settled_keys(study: Study, run: Run) -> list[str]:
    """Return the keys of the sessions that can be compared, in the order in which they were created."""
    return list(_decided(_answered(study), study, run).order_by("id").values_list("key", flat=True))


def settled_sessions(study: Study, run: Run, *, start: int, size: int) -> list[SettledSession]:
    """Return some of the sessions that can be compared, in the order in which they were created.

    Args:
        study: The current study.
        run: The run of the event.
        start: Number of sessions to skip; count.
        size: Sessions to return at most; count.
    """
    rows = list(_decided(_answered(study), study, run).order_by("id")[start : start + size])
    completed = LiveDialogueRow.objects.filter(session__in=rows, unit__isnull=False)
    session_of = dict(completed.values_list("unit_id", "session_id"))
    annotations: dict[int, set[tuple[object, ...]]] = defaultdict(set)
    categories: dict[int, set[str]] = defaultdict(set)
    for unit, guideline, *annotation in _annotations(study, run, session_of).values_list(
        "dialogue__unit_id", "guideline", "unit_id", "annotator", "instrument_version"
    ):
        session = session_of[unit]
        annotations[session].add((unit, *annotation))  # revisions of an annotation agree in these
        categories[session].add(guideline)
    return [
        SettledSession(
            key=row.key,
            level=row.level,
            application=row.application,
            n_annotations=len(annotations[row.pk]),
            n_categories=len(categories[row.pk]),
        )
        for row in rows
    ]


def annotations_about(study: Study, run: Run, dialogues: Sequence[str]) -> dict[str, list[Annotation]]:
    """Return the annotations of some dialogues of people in a run, by dialogue: those of judges first.

    Args:
        study: The current study; labels that answer another version of a guideline are excluded.
        run: The run of the event.
        dialogues: Keys of the dialogues.
    """
    units = dict(UnitRow.objects.filter(key__in=list(dialogues)).values_list("key", "id"))
    found = _annotations(study, run, units.values())
    judged = found.exclude(unit__isnull=True).order_by("unit__position", "unit_id").values_list("unit_id", flat=True)
    result: dict[str, list[Annotation]] = {key: [] for key in dialogues}
    for annotation in annotations_of(list(dict.fromkeys(judged))):
        result[annotation.dialogue].append(annotation)
    versions = {guideline.name: version_of(guideline) for guideline in study.guidelines}
    for label in labels_of([units[key] for key in dialogues if key in units]):
        if versions.get(label.guideline) == label.instrument_version:
            result[label.dialogue].append(label)
    return result


def _answered(study: Study) -> QuerySet[SessionRow]:
    """Return the sessions about the current study with a submitted response and a completed dialogue."""
    submitted = ResponseRow.objects.filter(session=OuterRef("pk"), submitted=True)
    completed = LiveDialogueRow.objects.filter(session=OuterRef("pk"), unit__isnull=False)
    current = SessionRow.objects.filter(about_current(*current_versions(study)), study=study.name)
    return current.exclude(state=SessionState.WITHDRAWN.value).filter(Exists(submitted), Exists(completed))


def _decided(answered: QuerySet[SessionRow], study: Study, run: Run) -> QuerySet[SessionRow]:
    """Return the sessions whose dialogues all have final annotations by people."""
    labelled = _labels(study).filter(dialogue__unit=OuterRef("unit"))
    waiting = waiting_items(study.name).filter(dialogue__unit=OuterRef("unit"))
    completed = LiveDialogueRow.objects.filter(session=OuterRef("pk"), unit__isnull=False)
    open_dialogues = completed.filter(~_in_run(run) | ~Exists(labelled) | Exists(waiting))
    return answered.filter(~Exists(open_dialogues))


def _in_run(run: Run) -> Q:
    """Return the condition that the unit of a live dialogue is in a run, created there or adopted."""
    number = id_of_run(run)
    done = {"kind": UnitKind.SESSION.value, "state": UnitState.DONE.value, "ready": 1}
    adopted = UnitRow.objects.filter(run_id=number, adopted_from__isnull=False, **done).values("adopted_from_id")
    return Q(unit__run_id=number, unit__state=UnitState.DONE.value, unit__ready=1) | Q(unit_id__in=adopted)


def _labels(study: Study) -> QuerySet[AnnotationRow]:
    """Return the labels by hand that answer the current version of a guideline."""
    return by_hand().filter(_current_guidelines(study))


def _annotations(study: Study, run: Run, units: Collection[int]) -> QuerySet[AnnotationRow]:
    """Return all revisions of the annotations of some dialogues: those of a run's judges, and labels by hand."""
    number = id_of_run(run)
    done = {"kind": UnitKind.ANNOTATION.value, "state": UnitState.DONE.value, "ready": 1}
    adopted = UnitRow.objects.filter(run_id=number, adopted_from__isnull=False, **done).values("adopted_from_id")
    judged = Q(unit__run_id=number, unit__state=UnitState.DONE.value, unit__ready=1) | Q(unit_id__in=adopted)
    about = AnnotationRow.objects.filter(dialogue__unit_id__in=list(units)).annotate(of_unit=Coalesce(F("unit_id"), 0))
    return about.filter(judged | (Q(of_unit=0) & _current_guidelines(study)))


def _current_guidelines(study: Study) -> Q:
    current = (Q(guideline=guideline.name, instrument_version=version_of(guideline)) for guideline in study.guidelines)
    return reduce(or_, current, Q(pk__in=()))
