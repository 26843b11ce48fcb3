"""Strata: dialogues sorted by what a judge says of them, as far as their defects go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import PlannedSession
from theodolite.measurement.study.labels import Register, Sheet, Source, asked_sessions, register, sources

DEFECT: Final = "defect"
"""Stratum of the dialogues in which a judge sees a defect."""

SOUND: Final = "sound"
"""Stratum of the dialogues in which a judge sees none."""

NO_VERDICT: Final = "no verdict"
"""Stratum of the dialogues that a judge was to label and did not: unparseable, refused, failed, missing."""


def strata_of(evidence: Evidence, guideline: Guideline, judge: str) -> dict[str, str]:
    """Return the stratum of each planned session that a guideline is asked about, by the session's label.

    A stratum is an application and what the judge says there by any of the
    guideline's defect rules, e.g. `bot-1.4: defect`. Without a judge it is the
    application alone.

    Args:
        evidence: All records of one run.
        guideline: What people are to label by.
        judge: Name of the annotator whose verdicts count; empty for none.
    """
    records = register(evidence)
    return dict(_strata(evidence, records, guideline, judge))


def _strata(evidence: Evidence, records: Register, guideline: Guideline, judge: str) -> Iterator[tuple[str, str]]:
    for application in evidence.study.applications:
        sessions = asked_sessions(evidence, application, guideline)
        by = sources(evidence.study, guideline, application)
        source = next((source for source in by.annotators if source.name == judge), None)
        verdicts = verdicts_of(records, guideline, sessions, source) if source else [""] * len(sessions)
        for session, verdict in zip(sessions, verdicts, strict=True):
            yield session.label, f"{application.name}: {verdict}" if verdict else application.name


def verdicts_of(
    records: Register, guideline: Guideline, sessions: Sequence[PlannedSession], source: Source
) -> list[str]:
    """Return what a source says of each session by any defect rule: a defect, sound, or no verdict."""
    by_rule = [rule_verdicts(records, guideline, rule, sessions, source) for rule in guideline.defect_rules]
    return [_worst(verdicts) for verdicts in zip(*by_rule, strict=True)]


def rule_verdicts(
    records: Register,
    guideline: Guideline,
    rule: DefectRule,
    sessions: Sequence[PlannedSession],
    source: Source,
) -> list[str]:
    """Return what a source says of each session by one defect rule; empty where the rule is not about a session."""
    question = guideline.instrument.question(rule.question)
    sheet = Sheet(register=records, guideline=guideline, question=question, sessions=tuple(sessions), rule=rule)
    verdicts = []
    for reading in sheet.readings(source):
        if not rule.applies_to(reading.session.groups):
            verdicts.append("")
        elif reading.value is None:
            verdicts.append(NO_VERDICT)
        else:
            verdicts.append(DEFECT if rule.is_defect(reading.value, question.scale) else SOUND)
    return verdicts


def _worst(verdicts: Sequence[str]) -> str:
    met = {verdict for verdict in verdicts if verdict}
    return next((verdict for verdict in (DEFECT, NO_VERDICT) if verdict in met), SOUND)
