"""Measuring: reading a run's evidence back and turning it into findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.evidence import Evidence
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
        study=study,
        run=run,
        sessions=sessions,
        dialogues=as_planned(store.dialogues(run), sessions),
        annotations=tuple(store.annotations(run)),
        adjudications=tuple(store.adjudications(run)),
        failures=tuple(store.failures(run)),
        spending=store.spending(run),
        schemas=store.schema_tallies(run),
    )


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
