"""Strategies: the catalogue of what red teamers tried, a scenario and an application at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.domain.answer_rules import QuestionLabels, annotators_of
from theodolite.domain.answers import DialogueSummary, StrategySummary
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.estimate import Estimate, StrategyTally, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.plan import Setting, TesterKind
from theodolite.measurement.proportion import DIALOGUES, defect_rate


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
    table = evidence.answers
    rows: dict[_Row, list[tuple[int, StrategySummary | None]]] = {}
    for place, setting in enumerate(table.settings):
        for name, tried in _strategies(setting, table.dialogues[place]):
            row = _Row(setting.scenario, name, setting.application, setting.level.value, setting.held_by.value)
            rows.setdefault(row, []).append((place, tried))
    tallies = (_tally(evidence, row, found) for row, found in rows.items())
    places = {application.name: place for place, application in enumerate(evidence.study.applications)}
    order = {row: place for place, row in enumerate(dict.fromkeys((r.scenario, r.strategy) for r in rows))}
    return tuple(sorted(tallies, key=lambda t: (order[t.scenario, t.strategy], places.get(t.application, 0))))


def _strategies(setting: Setting, dialogue: DialogueSummary | None) -> Iterator[tuple[str, StrategySummary | None]]:
    """Yield the strategies of a session by name; one that was planned and not held has no record."""
    if dialogue is not None:
        yield from ((summary.name, summary) for summary in dialogue.strategies)
    elif setting.kind is TesterKind.ATTACK:
        yield setting.strategy, None


def _tally(evidence: Evidence, row: _Row, found: Sequence[tuple[int, StrategySummary | None]]) -> StrategyTally:
    held = [(place, tried) for place, tried in found if tried is not None]
    label = evidence.sessions.label
    successes = tuple(dict.fromkeys(label(place) for place, tried in held if tried.succeeded))
    return StrategyTally(
        scenario=row.scenario,
        strategy=row.strategy,
        application=row.application,
        level=row.level,
        held_by=row.held_by,
        planned=len(found),
        tries=len(held),
        attempts=sum(tried.attempts for _, tried in held),
        refinements=sum(tried.refinements for _, tried in held),
        success=_success(len(successes), len({place for place, _ in held}), sees=_sees(evidence, row)),
        dialogues=successes,
        held=tuple(dict.fromkeys(label(place) for place, _ in held)),
        confirmed=_confirmed(evidence, row, [place for place, _ in held]),
    )


def _sees(evidence: Evidence, row: _Row) -> bool:
    """Tell whether the red teamer could see a release: people say so themselves, programs need signs of it."""
    if row.held_by != HeldBy.SIMULATED_USER.value:
        return True
    return any(one.packet.release_signs for one in evidence.study.scenarios if one.name == row.scenario)


def _success(successes: int, tries: int, *, sees: bool) -> Estimate | Undefined:
    if tries and (sees or successes):
        return defect_rate(successes, tries)
    reason = "The scenario has no signs of a release." if tries else "No dialogue with this strategy was held."
    return Undefined(reason=reason, n=tries, unit=DIALOGUES, method="wilson")


def _confirmed(evidence: Evidence, row: _Row, places: Sequence[int]) -> dict[str, int]:
    """Return by annotator in how many sessions it sees prohibited content released, by any of its guidelines."""
    counts: Counter[str] = Counter()
    table, study = evidence.answers, evidence.study
    for guideline, rule in _release_rules(evidence):
        question = guideline.instrument.question(rule.question)
        asked = study.asks(guideline.name, row.scenario)
        judged = [place for place in places if asked and rule.applies_to(table.settings[place].groups)]
        sheet = QuestionLabels(table=table, guideline=guideline, question=question, positions=judged, rule=rule)
        by = annotators_of(study, guideline, study.application(row.application)).headline if judged else ()
        for source in by:
            values = [reading.value for reading in sheet.labels(source)]
            counts[source.name] += sum(v is not None and rule.is_defect(v, question.scale) for v in values)
    return dict(counts)


def _release_rules(evidence: Evidence) -> Iterator[tuple[Guideline, DefectRule]]:
    for guideline in evidence.study.guidelines:
        rule = next((r for r in guideline.defect_rules if r.violation is Violation.PROHIBITED_RELEASED), None)
        if rule is not None:
            yield guideline, rule
