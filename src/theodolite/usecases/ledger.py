"""The ledger of a run: which units of work a plan consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from theodolite.assessment import annotating
from theodolite.domain.event_sessions import held_by_runs
from theodolite.domain.identity import digest
from theodolite.domain.people.session import SessionState
from theodolite.domain.plan import Sessions
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.testing.people import counted, label_of
from theodolite.testing.sessions import holding

if TYPE_CHECKING:  # they are handed over by whoever has loaded them
    from theodolite.domain.live import HeldDialogue


def session_units(study: Study, run: Run, sessions: Sessions, first: int | None = None) -> Iterator[Unit]:
    """Yield one unit for each planned session, in order of the plan.

    A unit's work key says what would be done, whichever run asks for it: what
    the tester's side sees, the application and the model that plays the user.

    Args:
        study: Names applications and models.
        run: The run that they belong to.
        sessions: All sessions of the plan.
        first: Units of the first sessions only; count, None for all.
    """
    sessions = held_by_runs(sessions)
    versions = {application.name: study.application_version(application.name) for application in study.applications}
    players = {"": "", **{model.name: model.version for model in study.models}}
    task = holding.task_version()
    for position in range(len(sessions))[:first]:
        setting = sessions.setting(position)
        who = versions[setting.application], players[setting.model]
        work_key = digest("session", sessions.pair_key(position), *who, task)
        yield Unit(
            key=digest(run.key, work_key),
            kind=UnitKind.SESSION,
            work_key=work_key,
            position=position,
            label=sessions.label(position),
            application=setting.application,
        )


def people_units(
    run: Run, study: Study, sessions: Sessions, held: Iterable[HeldDialogue], *, first: int | None = None
) -> Iterator[Unit]:
    """Yield one unit for each dialogue of a person that was held to its end, in order.

    They are entered so that a later run takes them over; the run in which they were
    held has them already.

    Args:
        run: The run that they belong to.
        study: What is written down now.
        sessions: All sessions of the run.
        held: All dialogues of people in the study.
        first: Sessions that are worked on; people come after all of them. None for all.
    """
    if first is not None:
        return
    n_planned = len(held_by_runs(sessions))
    for place, one in enumerate(counted(study, held)):
        if one.unit and one.session.state is not SessionState.WITHDRAWN:
            yield person_unit(run, one, place, n_planned)


def person_unit(run: Run, held: HeldDialogue, place: int, n_planned: int) -> Unit:
    """Return the unit of a run that a person's dialogue is.

    Its work key names the dialogue and no run: a later run of the study takes the dialogue over.

    Args:
        run: The run.
        held: The dialogue.
        place: Place among the dialogues of people that count, from 0.
        n_planned: Sessions that the run holds itself; count.
    """
    work_key = digest("person", held.key)
    return Unit(
        key=digest(run.key, work_key),
        kind=UnitKind.SESSION,
        work_key=work_key,
        position=n_planned + place,
        label=label_of(place),
        application=held.session.application,
    )


def annotations_due(study: Study, scenarios: Iterable[str]) -> int:
    """Return how many annotations some sessions ask for; count.

    Args:
        study: Names the annotators.
        scenarios: The scenario of each session.
    """
    return sum(
        n * sum(study.asks(annotator.guideline, scenario) for annotator in study.asked)
        for scenario, n in Counter(scenarios).items()
    )


def annotation_units(
    study: Study, run: Run, planned: Sessions, sessions: Iterable[Unit], origins: Mapping[str, str]
) -> Iterator[Unit]:
    """Yield one unit for each session and each annotator who is asked about it, in order of the plan.

    Args:
        study: Names the annotators.
        run: The run that they belong to.
        planned: All sessions of the plan.
        sessions: The run's session units.
        origins: Sessions that were taken over from an earlier run, and from where;
            an annotation may be taken over only together with its dialogue.
    """
    versions = {annotator.name: study.annotator_version(annotator.name) for annotator in study.asked}
    rules = {annotator.name: annotating.task_version(annotator) for annotator in study.asked}
    for session in sessions:
        for name, version in versions.items():
            if not study.asks(study.annotator(name).guideline, planned.setting(session.position).scenario):
                continue
            subject = origins.get(session.key, session.key)
            work_key = digest("annotation", subject, version, rules[name])
            yield Unit(
                key=digest(run.key, work_key),
                kind=UnitKind.ANNOTATION,
                work_key=work_key,
                position=session.position,
                label=session.label,
                application=session.application,
                subject=session.key,
                annotator=name,
            )
