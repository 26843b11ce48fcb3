"""Measuring: reading a run's evidence back and turning it into findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Annotation, AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import version_of
from theodolite.domain.persona import Persona
from theodolite.domain.plan import PlannedSession
from theodolite.domain.recording import RecordedDialogue
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.ports.store import Store
from theodolite.testing.planning import draw_plan


def latest_evidence(store: Store, study: Study, recordings: Sequence[RecordedDialogue]) -> Evidence:
    """Return everything that the latest run of a study holds.

    Raises:
        NotFound: If the study was never run here.
        InputError: If it has changed since its last run.
    """
    plan, sessions = draw_plan(study, recordings)
    try:
        run = store.run_of(plan)
    except NotFound as unknown:
        last = store.latest_run(study.name)
        message = (
            f"study `{study.name}` has changed since its last run (number {last.number}); "
            "run it again: only what changed is asked anew"
        )
        raise InputError(message) from unknown
    return evidence_of(store, study, sessions, run)


def evidence_of(store: Store, study: Study, sessions: tuple[PlannedSession, ...], run: Run) -> Evidence:
    """Return everything that one run of a study holds, given the sessions of its plan."""
    return Evidence(
        study=with_people(study, store.labels(run)),
        run=run,
        sessions=sessions,
        dialogues=as_planned(store.dialogues(run), sessions),
        annotations=tuple(annotations_in(store, study, run)),
        adjudications=tuple(store.adjudications(run)),
        failures=tuple(store.failures(run)),
        spending=store.spending(run),
        schemas=store.schema_tallies(run),
    )


def annotations_in(store: Store, study: Study, run: Run) -> Iterator[Annotation]:
    """Yield what annotators said of a run's dialogues, and then what people said by hand.

    Labels that answer another version of a guideline are left out: another
    guideline is another question.
    """
    yield from store.annotations(run)
    valid = {guideline.name: version_of(guideline) for guideline in study.guidelines}
    yield from (label for label in store.labels(run) if valid.get(label.guideline) == label.instrument_version)


def with_people(study: Study, labels: Iterable[Annotation]) -> Study:
    """Return a study with everybody who labelled by hand among its annotators, named in its file or not."""
    known = {annotator.name for annotator in study.annotators}
    guidelines = {guideline.name for guideline in study.guidelines}
    found = {label.annotator: label.guideline for label in labels if label.guideline in guidelines}
    people = tuple(
        Annotator(name=name, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=HandLabels())
        for name, guideline in found.items()
        if name not in known
    )
    return replace(study, annotators=(*study.annotators, *people)) if people else study


def is_measured(evidence: Evidence) -> bool:
    """Tell whether at least one dialogue has a label; without any there is no rate, not even 0."""
    answers = (answer for annotation in evidence.annotations for answer in annotation.answers)
    labelled = any(answer.outcome is Outcome.ANSWERED for answer in answers)
    return labelled or any(final.outcome is Outcome.ANSWERED for final in evidence.adjudications)


def as_planned(dialogues: Iterable[Dialogue], sessions: Sequence[PlannedSession]) -> tuple[Dialogue, ...]:
    """Return dialogues under the labels, clusters and groups that the present plan gives them.

    A dialogue that was taken over from an earlier run was `d002` there and may
    be `d003` now; what it is a dialogue of, and with whom, stays the same.
    """
    planned = {(session.pair_key, session.application): session for session in sessions}
    return tuple(_as_planned(dialogue, planned[dialogue.pair_key, dialogue.application]) for dialogue in dialogues)


def _as_planned(dialogue: Dialogue, session: PlannedSession) -> Dialogue:
    return replace(
        dialogue,
        label=session.label,
        scenario=session.scenario,
        cluster=session.cluster,
        groups=session.groups,
        persona=session.tester if isinstance(session.tester, Persona) else None,
    )
