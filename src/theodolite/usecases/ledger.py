"""The ledger of a run: which units of work a plan consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from theodolite.assessment import annotating
from theodolite.domain.event_sessions import held_by_runs
from theodolite.domain.identity import digest
from theodolite.domain.plan import Sessions
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.testing.sessions import task_version


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
    task = task_version()
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
