"""Strategies: the catalogue of what red teamers tried, a scenario and an application at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import Estimate, StrategyTally, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.plan import PlannedSession
from theodolite.domain.strategy import Attack, Strategy
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.study.labels import Register, Sheet, register, sources


@dataclass(frozen=True, slots=True)
class _Row:
    """What is counted together: equal scenario, strategy, application, level and kind of tester."""

    scenario: str
    strategy: str
    application: str
    level: str
    held_by: str


def strategy_tallies(evidence: Evidence) -> tuple[StrategyTally, ...]:
    """Return how each strategy fared, in order of scenarios, strategies and applications as the plan has them.

    Success is what the red teamer itself saw; beside it stands what annotators
    labelled as a release of prohibited content, each for itself. Sessions that
    failed are planned and not tried.

    Args:
        evidence: All records of one run.
    """
    records = register(evidence)
    rows: dict[_Row, list[tuple[PlannedSession, Dialogue | None, Strategy | None]]] = {}
    for session in evidence.sessions:
        dialogue = records.dialogues.get(session.label)
        for name, strategy in _strategies(session, dialogue):
            row = _Row(session.scenario, name, session.application, session.level.value, session.held_by.value)
            rows.setdefault(row, []).append((session, dialogue, strategy))
    tallies = (_tally(evidence, records, row, found) for row, found in rows.items())
    places = {application.name: place for place, application in enumerate(evidence.study.applications)}
    order = {row: place for place, row in enumerate(dict.fromkeys((r.scenario, r.strategy) for r in rows))}
    return tuple(sorted(tallies, key=lambda t: (order[t.scenario, t.strategy], places.get(t.application, 0))))


def _strategies(session: PlannedSession, dialogue: Dialogue | None) -> Iterator[tuple[str, Strategy | None]]:
    """Yield the strategies of a session by name; one that was planned and not held has no record."""
    if dialogue is not None:
        yield from ((strategy.name, strategy) for strategy in dialogue.strategies)
    elif isinstance(session.tester, Attack):
        yield session.tester.strategy, None


def _tally(
    evidence: Evidence,
    records: Register,
    row: _Row,
    found: Sequence[tuple[PlannedSession, Dialogue | None, Strategy | None]],
) -> StrategyTally:
    held = [(session, strategy) for session, dialogue, strategy in found if dialogue and strategy]
    successes = tuple(dict.fromkeys(session.label for session, strategy in held if strategy.succeeded))
    return StrategyTally(
        scenario=row.scenario,
        strategy=row.strategy,
        application=row.application,
        level=row.level,
        held_by=row.held_by,
        planned=len(found),
        tries=len(held),
        attempts=sum(len(strategy.attempts) for _, strategy in held),
        refinements=sum(strategy.n_refinements for _, strategy in held),
        success=_success(len(successes), len({session.label for session, _ in held})),
        dialogues=successes,
        confirmed=_confirmed(evidence, records, tuple(session for session, _ in held)),
    )


def _success(successes: int, tries: int) -> Estimate | Undefined:
    if tries:
        return defect_rate(successes, tries)
    return Undefined(reason="No dialogue with this strategy was held.", unit=DIALOGUES, method="wilson")


def _confirmed(evidence: Evidence, records: Register, sessions: tuple[PlannedSession, ...]) -> dict[str, int]:
    """Return by annotator in how many sessions it sees prohibited content released, by any of its guidelines."""
    counts: Counter[str] = Counter()
    for guideline, rule in _release_rules(evidence):
        question = guideline.instrument.question(rule.question)
        judged = tuple(
            session
            for session in sessions
            if rule.applies_to(session.groups) and evidence.study.asks(guideline.name, session.scenario)
        )
        sheet = Sheet(register=records, guideline=guideline, question=question, sessions=judged, rule=rule)
        for session in judged[:1]:
            for source in sources(evidence.study, guideline, evidence.study.application(session.application)).everybody:
                values = [reading.value for reading in sheet.readings(source)]
                counts[source.name] += sum(v is not None and rule.is_defect(v, question.scale) for v in values)
    return dict(counts)


def _release_rules(evidence: Evidence) -> Iterator[tuple[Guideline, DefectRule]]:
    for guideline in evidence.study.guidelines:
        rule = next((r for r in guideline.defect_rules if r.violation is Violation.PROHIBITED_RELEASED), None)
        if rule is not None:
            yield guideline, rule
