"""Rates and means that a study asks to be corrected in another way than by verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, versions_of
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.correction import Calibration
from theodolite.domain.estimate import Measurement
from theodolite.domain.estimate_subject import EstimateSubject, Measure
from theodolite.domain.guideline import DefectRule
from theodolite.domain.instrument import decimal_of
from theodolite.measurement.correction.mean import corrected_mean
from theodolite.measurement.correction.rogan_gladen import rogan_gladen_rate
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.study.rates import defects_of
from theodolite.measurement.study.sightings import Sightings


def transported_rate(
    subject: EstimateSubject, sheet: QuestionLabels, rule: DefectRule, judge: AnswerSource, known: Calibration
) -> Measurement:
    """Return a judge's rate corrected by what it got right on dialogues of other origin.

    Args:
        subject: Application and test setting.
        sheet: The question that the rule is about, and the sessions of its denominator.
        rule: When an answer is a defect.
        judge: The judge.
        known: What it got right elsewhere.
    """
    defects = defects_of(sheet, rule, sheet.labels(judge))
    found = rogan_gladen_rate(
        len(defects.labels),
        defects.outcomes.used,
        sensitivity=(known.caught, known.defects),
        specificity=(known.passed, known.sound),
        clusters=defects.clusters,
    )
    return Measurement(
        measure=Measure.ROGAN_GLADEN_RATE,
        subject=replace(
            subject,
            guideline=sheet.guideline.name,
            rule=rule.name,
            condition=rule.condition,
            annotators=(judge.name,),
            calibrated_on=known.source,
        ),
        result=found,
        outcomes=defects.outcomes,
        versions=versions_of(sheet.guideline, [judge]),
    )


def corrected_means(found: Sightings) -> Iterator[Measurement]:
    """Yield the mean of a judge's scores of one application, and what it becomes by one person's.

    Dialogues that the judge gave no score are in the account and in neither mean.

    Args:
        found: The judge beside a person on dialogues of one application; on a question answered by numbers.
    """
    if found.design.census or not found.labelled.seen:
        return
    open_to_both = found.open
    scored = [(one, score) for one in open_to_both.seen if (score := _number(one.judge)) is not None]
    places = [one.place for one, _ in scored]
    clusters = open_to_both.among(places).clusters
    scores = [score for _, score in scored]
    labels = [_number(one.person) if found.design.counts(one.place) else None for one, _ in scored]
    strata = [found.design.strata.get(place, "") for place in places]
    subject = EstimateSubject(
        application=found.seen[0].setting.application,
        guideline=found.guideline.name,
        question=found.question.name,
        annotators=(found.judge.name,),
    )
    outcomes = outcomes_of(one.judge.outcome for one in open_to_both.seen)
    ends = found.question.scale.lowest, found.question.scale.highest
    scale = None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1]))
    own = mean_estimate(np.array(scores), clusters=clusters, confidence=0.95, scale=scale)
    people = corrected_mean(scores, labels, drawn_from=strata, clusters=clusters, scale=scale)
    for measure, corrected_by, result, who in (
        (Measure.JUDGE_MEAN, "", own, [found.judge]),
        (Measure.CORRECTED_MEAN, found.authority.name, people, [found.judge, found.authority]),
    ):
        yield Measurement(
            measure=measure,
            subject=replace(subject, corrected_by=corrected_by),
            result=result,
            outcomes=outcomes,
            versions=versions_of(found.guideline, who),
        )


def _number(reading: DialogueLabel) -> float | None:
    return decimal_of(reading.value) if reading.value is not None else None
