"""Events: blinding, exposure and withdrawals, from what people left beside dialogues and answers."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from theodolite.domain.dialogue import Level
from theodolite.domain.people.event_record import (
    EventFinding,
    EventRecord,
    ExposureTally,
    LanguageTally,
    WithdrawalTally,
)
from theodolite.domain.people.exposure import BreakRule, Exposure
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.domain.study import Study
from theodolite.measurement.blinding import leaks_of

_NOT_COUNTED = frozenset({SessionState.WAITING, SessionState.ACTIVE, SessionState.WITHDRAWN})


def event_finding(study: Study, record: EventRecord) -> EventFinding | None:
    """Return what can be said of an event; None where nobody took part.

    Args:
        study: With the limits that it sets.
        record: What people left beside dialogues and answers.
    """
    if not record.sessions and not record.tombstones:
        return None
    rule = study.event.breaks if study.event else BreakRule()
    levels = (_exposure(record, level, rule) for level in Level)
    return EventFinding(
        leaks=leaks_of(record.guesses, record.sessions),
        exposures=tuple(one for one in levels if one is not None),
        withdrawals=tuple(one for one in (_withdrawals(record, kind) for kind in Withdrawal) if one.n_people),
        topics=record.topics,
        languages=_languages(record),
    )


def _exposure(record: EventRecord, level: Level, rule: BreakRule) -> ExposureTally | None:
    people: dict[str, list[Session]] = defaultdict(list)
    for session in record.sessions:
        if session.level is level and session.state not in _NOT_COUNTED:
            people[session.participant].append(session)
    if not people:
        return None
    each = [_of_person(record, sessions) for sessions in people.values()]
    return ExposureTally(
        level=level,
        n_people=len(each),
        n_sessions=sum(len(sessions) for sessions in people.values()),
        minutes_median=median(one.minutes for one in each),
        minutes_most=max(one.minutes for one in each),
        turns=sum(one.turns for one in each),
        severe=sum(one.severe for one in each),
        severe_most=max(one.severe for one in each),
        n_enough=sum(rule.is_enough(one) for one in each) if rule.most_min or rule.most_severe else None,
    )


def _of_person(record: EventRecord, sessions: list[Session]) -> Exposure:
    counts = [record.turns.get(one.key, (0, 0)) for one in sessions]
    ends = [(one.clock, one.clock.ended) for one in sessions]
    return Exposure(
        minutes=sum(clock.elapsed_s(ended) for clock, ended in ends if ended is not None) / 60,
        turns=sum(n for n, _ in counts),
        severe=sum(severe for _, severe in counts),
    )


def _languages(record: EventRecord) -> tuple[LanguageTally, ...]:
    held: dict[str, list[Session]] = defaultdict(list)
    for session in record.sessions:
        if session.clock.started is not None and session.state is not SessionState.WITHDRAWN:
            held[session.language].append(session)
    tallies = [
        LanguageTally(
            language=language,
            n_sessions=len(sessions),
            n_dialogues=sum(record.dialogues.get(one.key, 0) for one in sessions),
        )
        for language, sessions in held.items()
    ]
    return tuple(sorted(tallies, key=lambda one: (not one.language, -one.n_sessions, one.language)))


def _withdrawals(record: EventRecord, kind: Withdrawal) -> WithdrawalTally:
    mine = [one for one in record.tombstones if one.kind is kind]
    return WithdrawalTally(
        kind=kind,
        n_people=len(mine),
        sessions=sum(one.sessions for one in mine),
        dialogues=sum(one.dialogues for one in mine),
        answers=sum(one.answers for one in mine),
    )
