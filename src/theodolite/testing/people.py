"""People's dialogues among the sessions of a study: which count, and which are still open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from theodolite.domain.dialogue import TesterType
from theodolite.domain.identity import SHORT, canonical_json, digest, version_of
from theodolite.domain.plan import Cell, EventSessions, PlannedSession, Sessions, Slot, held_by_runs
from theodolite.domain.run import Failure, FailureKind, FailureSource, Run, Unit, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.testing.assigning import allocation_design, people_levels, planned_slots
from theodolite.testing.design import grouping_of, groups_of

if TYPE_CHECKING:  # callers have loaded them and pass them
    from theodolite.domain.live import LiveDialogueSummary


def scenario_sight(scenario: Scenario) -> str:
    """Return the hash of all that decides the texts and labels of a scenario; 64 hexadecimal digits.

    Other texts may be corrected during an event: instructions, questionnaires.
    """
    corpus = canonical_json((scenario.corpus, scenario.passages)) if scenario.corpus else ""
    return digest("people", scenario.name, version_of(scenario.packet), corpus)


def current_versions(study: Study) -> tuple[dict[str, str], dict[str, str]]:
    """Return the versions of the applications and scenarios of a study by which people's sessions count."""
    applications = {application.name: study.application_version(application.name) for application in study.applications}
    return applications, {scenario.name: scenario_sight(scenario) for scenario in study.scenarios}


def counted(study: Study, dialogues: Iterable[LiveDialogueSummary]) -> tuple[LiveDialogueSummary, ...]:
    """Return people's dialogues that used the current version of the study, in order.

    Dialogues with another version of an application or scenario are excluded.
    """
    applications, scenarios = current_versions(study)
    return tuple(
        dialogue
        for dialogue in dialogues
        if applications.get(dialogue.session.application) == dialogue.session.application_version
        and scenarios.get(dialogue.session.scenario) == dialogue.session.scenario_version
    )


def label_of(place: int) -> str:
    """Return the displayed name of a dialogue by its position among people's dialogues, from 0."""
    return f"p{place + 1:03d}"


def event_sessions(study: Study, planned: Sessions, dialogues: Iterable[LiveDialogueSummary]) -> Sessions:
    """Return the sessions of a study with those of people after the run's own plan.

    A planned cell without a dialogue is listed, so that it is missing
    and not forgotten.

    Args:
        study: The study's present preregistration.
        planned: The run's own plan.
        dialogues: All dialogues of people in the study, in order of start.
    """
    everything = list(dialogues)
    ours = counted(study, everything)
    people = [_completed_session(study, index, one) for index, one in enumerate(ours)]
    empty = list(_empty_cells(study, ours))
    if not people and not empty and not everything:
        return planned
    people += [_empty_session(study, at, *cell) for at, cell in enumerate(empty, start=len(people))]
    stays = [our.unit and our.session.state is not SessionState.WITHDRAWN for our in ours]
    units = {one.unit: index for index, one in enumerate(ours) if stays[index]}
    return EventSessions(planned, people, units, {summary.unit for summary in everything} - set(units))


def failures_of(study: Study, dialogues: Iterable[LiveDialogueSummary]) -> tuple[Failure, ...]:
    """Return the dialogues of people without a result, and why; in order.

    A dialogue in progress, or one in which the person stopped every reply, is missing rather than failed.
    """
    result = []
    for index, one in enumerate(counted(study, dialogues)):
        kind = FailureKind.WITHDRAWN if one.session.state is SessionState.WITHDRAWN else one.kind
        if kind is None or (one.unit and kind is not FailureKind.WITHDRAWN) or one.ending is None:
            continue
        is_withdrawn = kind is FailureKind.WITHDRAWN
        result.append(
            Failure(
                unit=one.unit or one.key,
                label=label_of(index),
                application=one.session.application,
                party=FailureSource.PERSON if is_withdrawn else FailureSource.APPLICATION,
                kind=kind,
                message="the person withdrew; nothing is left but this count"
                if is_withdrawn
                else "the application answered none of the person's prompts",
                endpoint="" if is_withdrawn else one.session.application,
            )
        )
    return tuple(result)


def pseudonym(study: Study, participant: str) -> str:
    """Return a person's name in results: the same in every run of the study, and unrelated to any key."""
    return f"tester-{digest('pseudonym', study.name, participant)[:SHORT]}"


def pair_key_of(session: Session, visit: int, dialogue: int) -> str:
    """Return the pair key of a person's dialogue: shared with other applications.

    Args:
        session: The session.
        visit: Number of times the person has tested this cell, including this time; from 1.
        dialogue: Number of the dialogue in the session, from 1.
    """
    where = session.level.value, session.scenario, session.scenario_version
    return digest("person", session.participant, *where, str(visit), str(dialogue))


def visit_of(session: Session, sessions: Sequence[Session]) -> int:
    """Return the number of times a person has tested the cell of a session, including this time; from 1.

    Args:
        session: The session.
        sessions: All sessions of the person in the study.
    """
    same = (
        one
        for one in sessions
        if (one.level, one.scenario, one.application) == (session.level, session.scenario, session.application)
        and one.study == session.study
    )
    return sum(one.place <= session.place for one in same)


def _completed_session(study: Study, place: int, summary: LiveDialogueSummary) -> PlannedSession:
    session = summary.session
    values = {"scenario": session.scenario, **summary.groups}
    return PlannedSession(
        label=label_of(place),
        application=session.application,
        scenario=session.scenario,
        tester=Slot(level=session.level, number=session.slot, stratum=session.stratum),
        level=session.level,
        held_by=summary.held_by,
        pair_key=summary.pair_key or digest("no pair", summary.key),
        cluster=pseudonym(study, session.participant),
        repeat=summary.number,
        groups=groups_of(grouping_of(study), values),
    )


def _empty_session(study: Study, at: int, slot: Slot, place: int, cell: Cell) -> PlannedSession:
    return PlannedSession(
        label=label_of(at),
        application=cell.application,
        scenario=cell.scenario,
        tester=slot,
        level=slot.level,
        held_by=TesterType.PERSON,
        pair_key=digest("empty cell", slot.key, str(place)),
        cluster=slot.key,
        groups=groups_of(grouping_of(study), {"scenario": cell.scenario}),
    )


def _empty_cells(study: Study, dialogues: Sequence[LiveDialogueSummary]) -> Iterable[tuple[Slot, int, Cell]]:
    """Yield the planned cells without a dialogue, with their slot and position."""
    filled: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    for dialogue in dialogues:
        session = dialogue.session
        filled[session.level.value, session.stratum, session.slot].add(session.place)
    for plan in people_levels(study):
        design = allocation_design(study, plan)
        for slot in planned_slots(plan):
            positions = filled[slot.level.value, slot.stratum, slot.number]
            for index, cell in enumerate(design.cells(slot.number, slot.stratum)):
                if index not in positions:
                    yield slot, index, cell


def people_units(
    run: Run, study: Study, sessions: Sessions, dialogues: Iterable[LiveDialogueSummary]
) -> Iterator[Unit]:
    """Yield one unit for each completed dialogue of a participant, in order.

    They are added so that a later run adopts them; the run in which they were
    completed has them already.

    Args:
        run: The run of the units.
        study: The current study.
        sessions: All sessions of the run.
        dialogues: All dialogues of participants in the study.
    """
    n_planned = len(held_by_runs(sessions))
    for position, one in enumerate(counted(study, dialogues)):
        if one.unit and one.session.state is not SessionState.WITHDRAWN:
            yield person_unit(run, one, position, n_planned)


def person_unit(run: Run, summary: LiveDialogueSummary, position: int, n_planned: int) -> Unit:
    """Return the unit of a run for a participant's dialogue.

    Its work key names the dialogue and no run, so a later run of the study adopts the dialogue.

    Args:
        run: The run.
        summary: The dialogue.
        position: Position among the dialogues of participants that count, from 0.
        n_planned: Sessions that the run plans itself; count.
    """
    work_key = digest("person", summary.key)
    return Unit(
        key=digest(run.key, work_key),
        kind=UnitKind.SESSION,
        work_key=work_key,
        position=n_planned + position,
        label=label_of(position),
        application=summary.session.application,
    )
