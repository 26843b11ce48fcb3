"""Corrected rates and means, from a judge's verdicts on all dialogues and human labels of some."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

import numpy as np

from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, versions_of
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.correction import Calibration
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, Measure
from theodolite.domain.guideline import DefectRule
from theodolite.domain.instrument import decimal_of
from theodolite.measurement.correction.mean import corrected_mean
from theodolite.measurement.correction.rate import corrected_rate, rogan_gladen_rate
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.scores import mean_estimate
from theodolite.measurement.study.paired_labels import LabelPair, PairedLabels
from theodolite.measurement.study.rates import defects_of

NOT_DRAWN = (
    "The labelled dialogues were not drawn, so nobody knows what they stand for."
    " `theodolite label --sample` draws some."
)
"""Why labels that people gave to dialogues of their own choice correct nothing."""


def share_in_all(paired: PairedLabels, hit: Callable[[LabelPair], bool | None]) -> Estimate | Undefined:
    """Estimate in which share of all judged dialogues something holds that only labelled dialogues tell.

    Each labelled dialogue speaks for those that it was drawn from: those with
    the same verdict and the same stratum.

    Args:
        paired: The judge beside an authority.
        hit: Whether it holds for a labelled dialogue; None if unknown.
    """
    paired = paired.open
    cells: list[Hashable] = [_cell(paired, pair) for pair in paired.pairs]
    counted = [
        hit(pair) if _is_labelled(pair) and paired.design.counts(pair.position) else None for pair in paired.pairs
    ]
    some = any(_is_labelled(pair) for pair in paired.pairs)
    if some and not any(paired.design.counts(pair.position) for pair in paired.pairs):
        return Undefined(reason=NOT_DRAWN, unit=DIALOGUES)
    return corrected_rate(cells, counted, clusters=paired.clusters)


def _is_labelled(pair: LabelPair) -> bool:
    return pair.person.value is not None


def _cell(paired: PairedLabels, pair: LabelPair) -> tuple[str, str]:
    verdict_text = pair.judge.value or pair.judge.outcome.value
    verdict = paired.verdict(pair.judge)
    if paired.rule is not None:
        verdict_text = "no verdict" if verdict is None else "defect" if verdict else "sound"
    return verdict_text, paired.design.strata.get(pair.position, "")


def corrected_rates(paired: PairedLabels, subject: EstimateSubject) -> Iterator[Measurement]:
    """Yield the corrected rate of one application under one rule, where people labelled a part of its dialogues.

    It stands beside the judge's own rate and never takes its place. Where the
    authority saw every dialogue, its own rate needs no correction.

    Args:
        paired: The judge beside an authority on dialogues of one application; with a rule.
        subject: Application and test setting.
    """
    if paired.design.census or paired.rule is None or not paired.labelled.pairs:
        return
    yield Measurement(
        measure=Measure.CORRECTED_RATE,
        subject=replace(
            subject,
            guideline=paired.guideline.name,
            rule=paired.rule.name,
            condition=paired.rule.condition,
            annotators=(paired.judge.name,),
            corrected_by=paired.authority.name,
        ),
        result=share_in_all(paired, lambda pair: paired.verdict(pair.person)),
        outcomes=paired.authority_outcomes,
        versions=versions_of(paired.guideline, [paired.judge, paired.authority]),
    )


def transported_rate(
    subject: EstimateSubject, labels: QuestionLabels, rule: DefectRule, judge: AnswerSource, known: Calibration
) -> Measurement:
    """Return a judge's rate corrected by what it got right on dialogues of other origin.

    Args:
        subject: Application and test setting.
        labels: Labels of the rule's question on the sessions of the denominator.
        rule: When an answer is a defect.
        judge: The judge.
        known: Its known accuracy.
    """
    defects = defects_of(labels, rule, labels.labels(judge))
    paired = rogan_gladen_rate(
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
            guideline=labels.guideline.name,
            rule=rule.name,
            condition=rule.condition,
            annotators=(judge.name,),
            calibrated_on=known.source,
        ),
        result=paired,
        outcomes=defects.outcomes,
        versions=versions_of(labels.guideline, [judge]),
    )


def corrected_means(paired: PairedLabels) -> Iterator[Measurement]:
    """Yield the mean of a judge's scores of one application, and what it becomes by one person's.

    Dialogues that the judge gave no score are in the outcomes and in neither mean.

    Args:
        paired: The judge beside a person on dialogues of one application; on a question answered by numbers.
    """
    if paired.design.census or not paired.labelled.pairs:
        return
    open_to_both = paired.open
    scored = [(pair, score) for pair in open_to_both.pairs if (score := _number(pair.judge)) is not None]
    positions = [pair.position for pair, _ in scored]
    clusters = open_to_both.among(positions).clusters
    scores = [score for _, score in scored]
    labels = [_number(pair.person) if paired.design.counts(pair.position) else None for pair, _ in scored]
    strata = [paired.design.strata.get(position, "") for position in positions]
    subject = EstimateSubject(
        application=paired.pairs[0].setting.application,
        guideline=paired.guideline.name,
        question=paired.question.name,
        annotators=(paired.judge.name,),
    )
    outcomes = outcomes_of(pair.judge.outcome for pair in open_to_both.pairs)
    ends = paired.question.scale.lowest, paired.question.scale.highest
    scale = None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1]))
    own = mean_estimate(np.array(scores), clusters=clusters, confidence=0.95, scale=scale)
    people = corrected_mean(scores, labels, drawn_from=strata, clusters=clusters, scale=scale)
    for measure, corrected_by, result, who in (
        (Measure.JUDGE_MEAN, "", own, [paired.judge]),
        (Measure.CORRECTED_MEAN, paired.authority.name, people, [paired.judge, paired.authority]),
    ):
        yield Measurement(
            measure=measure,
            subject=replace(subject, corrected_by=corrected_by),
            result=result,
            outcomes=outcomes,
            versions=versions_of(paired.guideline, who),
        )


def _number(reading: DialogueLabel) -> float | None:
    return decimal_of(reading.value) if reading.value is not None else None
