"""The ledger of a run: which units of work a plan consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from theodolite.assessment import annotating
from theodolite.domain.identity import digest
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Run, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.testing import sessions as holding


def session_units(study: Study, run: Run, sessions: Sequence[PlannedSession]) -> Iterator[Unit]:
    """Yield one unit for each planned session, in order of the plan.

    A unit's work key says what would be done, whichever run asks for it: what
    the tester's side sees, the application and the model that plays the user.
    """
    versions = {application.name: study.application_version(application.name) for application in study.applications}
    for position, session in enumerate(sessions):
        tester = session.tester
        model = "" if isinstance(tester, Script) else tester.model
        player = study.model(model).version if model else ""
        work_key = digest("session", session.pair_key, versions[session.application], player, holding.task_version())
        yield Unit(
            key=digest(run.key, work_key),
            kind=UnitKind.SESSION,
            work_key=work_key,
            position=position,
            label=session.label,
            application=session.application,
        )


def annotations_due(study: Study, sessions: Iterable[PlannedSession]) -> int:
    """Return how many annotations some sessions ask for; count."""
    in_scenario = Counter(session.scenario for session in sessions)
    return sum(
        n * sum(study.asks(annotator.guideline, scenario) for annotator in study.asked)
        for scenario, n in in_scenario.items()
    )


def annotation_units(
    study: Study, run: Run, planned: Sequence[PlannedSession], sessions: Sequence[Unit], origins: Mapping[str, str]
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
    for session in sessions:
        for name, version in versions.items():
            if not study.asks(study.annotator(name).guideline, planned[session.position].scenario):
                continue
            subject = origins.get(session.key, session.key)
            work_key = digest("annotation", subject, version, annotating.task_version())
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
