"""Strata: dialogues sorted by what a judge says of them, as far as their defects go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, positions_of
from theodolite.domain.answers import AnswerTable, Positions
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline

DEFECT: Final = "defect"
"""Stratum of the dialogues in which a judge sees a defect."""

SOUND: Final = "sound"
"""Stratum of the dialogues in which a judge sees none."""

NO_VERDICT: Final = "no verdict"
"""Stratum of the dialogues that a judge was to label and did not: unparseable, refused, failed, missing."""


def strata_of(evidence: Evidence, guideline: Guideline, judge: str) -> dict[int, str]:
    """Return the stratum of each planned session that a guideline is asked about, by its position in the plan.

    A stratum is an application and what the judge says there by any of the
    guideline's defect rules, e.g. `bot-1.4: defect`. Without a judge it is the
    application alone.

    Args:
        evidence: All records of one run.
        guideline: What people are to label by.
        judge: Name of the annotator whose verdicts count; empty for none.
    """
    return dict(_strata(evidence, guideline, judge))


def _strata(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[tuple[int, str]]:
    for application in evidence.study.applications:
        places = positions_of(evidence.study, evidence.answers, application, guideline)
        by = annotators_of(evidence.study, guideline, application)
        source = next((source for source in by.annotators if source.name == judge), None)
        verdicts = verdicts_of(evidence.answers, guideline, places, source) if source else [""] * len(places)
        for place, verdict in zip(places, verdicts, strict=True):
            yield place, f"{application.name}: {verdict}" if verdict else application.name


def verdicts_of(table: AnswerTable, guideline: Guideline, places: Positions, source: AnswerSource) -> list[str]:
    """Return what a source says of each session by any defect rule: a defect, sound, or no verdict."""
    by_rule = [rule_verdicts(table, guideline, rule, places, source) for rule in guideline.defect_rules]
    return [_worst(verdicts) for verdicts in zip(*by_rule, strict=True)]


def rule_verdicts(
    table: AnswerTable, guideline: Guideline, rule: DefectRule, places: Positions, source: AnswerSource
) -> list[str]:
    """Return what a source says of each session by one defect rule; empty where the rule is not about a session."""
    question = guideline.instrument.question(rule.question)
    sheet = QuestionLabels(table=table, guideline=guideline, question=question, positions=places, rule=rule)
    verdicts = []
    for place, reading in zip(places, sheet.labels(source), strict=True):
        if not rule.applies_to(sheet.setting(place).groups):
            verdicts.append("")
        elif reading.value is None:
            verdicts.append(NO_VERDICT)
        else:
            verdicts.append(DEFECT if rule.is_defect(reading.value, question.scale) else SOUND)
    return verdicts


def _worst(verdicts: Sequence[str]) -> str:
    met = {verdict for verdict in verdicts if verdict}
    return next((verdict for verdict in (DEFECT, NO_VERDICT) if verdict in met), SOUND)
