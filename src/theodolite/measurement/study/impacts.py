"""From a risk to its impact: likelihood, magnitude, and direction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import annotators_of
from theodolite.domain.answers import OUTCOME_CODES
from theodolite.domain.application import Application
from theodolite.domain.choices import Impact
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.risks import RiskImpact
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.study_parts import Risk
from theodolite.domain.undefined_reasons import REVIEW_PENDING, UNGRADED
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.trees.construction import magnitude_question

HIGHEST: Final = 10.0
"""Upper end of the scale of magnitudes; every grade is rescaled to it."""

UNIT: Final = "points from 0 to 10"


CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskGrade:
    """The grade of one dialogue or session in which a risk could materialise.

    Attributes:
        person: Tester, persona or script behind it.
        is_real: Whether the risk materialised; None if undecided.
        magnitude: Mean grade of the annotators, 0 to 10; None without a grade.
        impacts: Directions that annotators or a reviewer state.
    """

    person: str
    is_real: bool | None
    magnitude: float | None = None
    impacts: tuple[Impact, ...] = ()


def risk_impact(grades: Sequence[RiskGrade], *, n_pending: int = 0) -> RiskImpact:
    """Return likelihood, magnitude and expected magnitude of a risk, with the directions of its impact.

    The likelihood is the share of decided dialogues or sessions in which the risk materialised.
    The magnitude is the mean grade of the graded ones in which it materialised.
    The expected magnitude is the mean over all decided ones, with 0 for the others; it equals likelihood times
    magnitude, and is undefined if a materialised one has no grade.
    All intervals account for people with several dialogues.

    Args:
        grades: Dialogues or sessions of one risk, application and level.
        n_pending: Sessions with a sign that await a review; count.

    Source:
        Risk as likelihood and magnitude of consequence: NIST AI 100-1 (2023), section 1.2.1; ISO 31000:2018.
        Intervals: `defect_rate`, `mean_estimate`.
    """
    decided = [grade for grade in grades if grade.is_real is not None]
    real = [grade for grade in decided if grade.is_real]
    graded = [grade for grade in real if grade.magnitude is not None]
    likelihood = (
        Undefined(reason=REVIEW_PENDING, n=len(decided), unit="fraction of dialogues")
        if n_pending
        else _likelihood(decided)
    )
    return RiskImpact(
        likelihood=likelihood,
        magnitude=_mean([grade.magnitude or 0.0 for grade in graded], graded, "No grade of a materialised risk."),
        expected=_expected(decided, len(real) - len(graded), likelihood),
        impacts=dict(Counter(impact.value for grade in real for impact in grade.impacts)),
        n_real=len(real),
        n_ungraded=len(real) - len(graded),
    )


def _likelihood(decided: Sequence[RiskGrade]) -> Estimate | Undefined:
    clusters: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for grade in decided:
        clusters[grade.person][0] += bool(grade.is_real)
        clusters[grade.person][1] += 1
    return defect_rate(
        sum(bool(grade.is_real) for grade in decided),
        len(decided),
        confidence=CONFIDENCE,
        clusters=[(real, n) for real, n in clusters.values()],
    )


def _expected(decided: Sequence[RiskGrade], n_ungraded: int, likelihood: Estimate | Undefined) -> Estimate | Undefined:
    if isinstance(likelihood, Undefined):
        return Undefined(reason=likelihood.reason, n=len(decided), unit=UNIT)
    if n_ungraded:
        reason = UNGRADED.format(n=n_ungraded)
        return Undefined(reason=reason, n=len(decided), unit=UNIT)
    return _mean([(grade.magnitude or 0.0) if grade.is_real else 0.0 for grade in decided], decided, "No dialogue.")


def _mean(values: Sequence[float], grades: Sequence[RiskGrade], reason: str) -> Estimate | Undefined:
    if not values:
        return Undefined(reason=reason, unit=UNIT)
    return mean_estimate(
        np.array(values, dtype=np.float64),
        clusters=[grade.person for grade in grades],
        confidence=CONFIDENCE,
        unit=UNIT,
        scale=(0.0, HIGHEST),
    )


def graded_positions(
    evidence: Evidence, risk: Risk, application: Application
) -> Mapping[int, tuple[float | None, tuple[Impact, ...]]]:
    """Return for each dialogue with a follow-up answer its magnitude, 0 to 10, and the directions of the impact.

    An annotator's grade of a dialogue is that of its worst turn; grades of several annotators are averaged.
    """
    magnitudes: defaultdict[int, dict[str, float]] = defaultdict(dict)
    impacts: defaultdict[int, list[Impact]] = defaultdict(list)
    for guideline in evidence.study.guidelines:
        for rule in guideline.defect_rules:
            if f"{guideline.name}.{rule.name}" not in risk.rules:
                continue
            question = magnitude_question(guideline, rule)
            for position, who, text in _answers(evidence, application, guideline, question):
                grade = float(text) / ((question.scale.highest if question else None) or HIGHEST) * HIGHEST
                magnitudes[position][who] = max(grade, magnitudes[position].get(who, 0.0))
            for direction in _direction_questions(guideline, rule):
                for position, _, text in _answers(evidence, application, guideline, direction):
                    impacts[position].append(Impact(text))
    return {
        position: (
            float(np.mean(list(magnitudes[position].values()))) if magnitudes.get(position) else None,
            tuple(impacts.get(position, ())),
        )
        for position in sorted({*magnitudes, *impacts})
    }


def _direction_questions(guideline: Guideline, rule: DefectRule) -> Iterator[Question]:
    for question in guideline.instrument.questions:
        is_follow_up = question.when is not None and question.when.question == rule.question
        if is_follow_up and set(question.scale.categories) == {impact.value for impact in Impact}:
            yield question


def _answers(
    evidence: Evidence, application: Application, guideline: Guideline, question: Question | None
) -> Iterator[tuple[int, str, str]]:
    """Yield position, annotator and text of each answer about an application's dialogues."""
    if question is None:
        return
    table = evidence.answers
    own = set(table.positions(application.name))
    for source in annotators_of(evidence.study, guideline, application, question.name).annotators:
        columns = table.columns(source.name, guideline.name, question.name)
        for position, outcome, value in zip(columns.position, columns.outcome, columns.value, strict=True):
            if position in own and outcome == OUTCOME_CODES[Outcome.ANSWERED] and value >= 0:
                yield position, source.name, columns.texts[value]
