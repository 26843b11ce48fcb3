"""The past: earlier runs of a study, each under the study and the plan of its day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from theodolite.bootstrap.study_context import StudyContext, dialogue_summaries
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.run import Run
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore


def context_of_run(context: StudyContext, number: int) -> StudyContext:
    """Return the context of an earlier run.

    Args:
        context: The study as it is written now.
        number: Number of the run among those of the study.

    Raises:
        InputError: If there is no such run, or its recorded rows are no longer in the study's files.
    """
    name, runs = context.loaded.study.name, context.store.runs(context.loaded.study.name)
    run = next((run for run in runs if run.number == number), None)
    if run is None:
        have = f"it has {', '.join(str(run.number) for run in runs)}" if runs else "it was never run here"
        message = f"study `{name}` has no run {number}; {have}"
        raise InputError(message)
    study = context.store.study(run.study_version)
    known = {application.name for application in study.applications}
    recordings = tuple(one for one in context.loaded.recordings if one.application in known)
    plan, sessions = draw_plan(study, recordings)
    if version_of(plan) != run.plan_version:
        message = (
            f"run {number} of study `{name}` cannot be read any more: its recorded rows, or the rules by which"
            " sessions were drawn, have changed since. Its results.json can be compared, where it was kept"
        )
        raise InputError(message)
    loaded = replace(context.loaded, study=study, recordings=recordings)
    sessions = event_sessions(study, sessions, _held_by_then(context.store, run))
    return replace(context, loaded=loaded, plan=plan, sessions=sessions, chosen=run)


def _held_by_then(store: DjangoStore, run: Run) -> list[LiveDialogueSummary]:
    """Return the dialogues of people up to the last one that a run has."""
    held = dialogue_summaries(store, run.study)
    if not held:
        return []
    theirs = {dialogue.key for dialogue in store.dialogues(run) if dialogue.held_by is TesterType.PERSON}
    last = max((one.ordinal for one in held if one.unit in theirs), default=-1)
    return [one for one in held if one.ordinal <= last]
