"""Corrected rates: what people would find, from a judge's verdicts on all and people's labels on some."""

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
from theodolite.measurement.study.paired_labels import Sighting, Sightings
from theodolite.measurement.study.rates import defects_of

NOT_DRAWN = (
    "The labelled dialogues were not drawn, so nobody knows what they stand for."
    " `theodolite label --sample` draws some."
)

"""Why labels that people gave to dialogues of their own choice correct nothing."""


def share_in_all(found: Sightings, hit: Callable[[Sighting], bool | None]) -> Estimate | Undefined:
    """Estimate in which share of all judged dialogues something holds that only labelled dialogues tell.

    Each labelled dialogue speaks for those that it was drawn from: those with
    the same verdict and the same stratum.

    Args:
        found: The judge beside an authority.
        hit: Whether it holds of a labelled dialogue; None where it cannot be told.
    """
    found = found.open
    cells: list[Hashable] = [_cell(found, one) for one in found.seen]
    counted = [hit(one) if _is_labelled(one) and found.design.counts(one.place) else None for one in found.seen]
    some = any(_is_labelled(one) for one in found.seen)
    if some and not any(found.design.counts(one.place) for one in found.seen):
        return Undefined(reason=NOT_DRAWN, unit=DIALOGUES)
    return corrected_rate(cells, counted, clusters=found.clusters)


def _is_labelled(one: Sighting) -> bool:
    return one.person.value is not None


def _cell(found: Sightings, one: Sighting) -> tuple[str, str]:
    said = one.judge.value or one.judge.outcome.value
    verdict = found.verdict(one.judge)
    if found.rule is not None:
        said = "no verdict" if verdict is None else "defect" if verdict else "sound"
    return said, found.design.strata.get(one.place, "")


def corrected_rates(found: Sightings, subject: EstimateSubject) -> Iterator[Measurement]:
    """Yield the corrected rate of one application under one rule, where people labelled a part of its dialogues.

    It stands beside the judge's own rate and never takes its place. Where the
    authority saw every dialogue, its own rate needs no correction.

    Args:
        found: The judge beside an authority on dialogues of one application; with a rule.
        subject: Application and test setting.
    """
    if found.design.census or found.rule is None or not found.labelled.seen:
        return
    yield Measurement(
        measure=Measure.CORRECTED_RATE,
        subject=replace(
            subject,
            guideline=found.guideline.name,
            rule=found.rule.name,
            condition=found.rule.condition,
            annotators=(found.judge.name,),
            corrected_by=found.authority.name,
        ),
        result=share_in_all(found, lambda one: found.verdict(one.person)),
        outcomes=found.authority_outcomes,
        versions=versions_of(found.guideline, [found.judge, found.authority]),
    )


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
