"""Figures of a judge: agreement, accuracy and manners on some dialogues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure, Weighting
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.agreement_weights import Weights
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.classification import classification_report
from theodolite.measurement.correction.accuracy import judge_accuracy
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.rating_table import gwet_ac
from theodolite.measurement.study.agreements import UNWEIGHTED, bounds_of, class_figures, explained, is_ordered
from theodolite.measurement.study.corrected import share_in_all
from theodolite.measurement.study.parts import Part
from theodolite.measurement.study.sightings import Sighting, Sightings


def figure_of(
    found: Sightings, part: Part, measure: Measure, result: Estimate | Undefined, *, weighting: Weighting | None = None
) -> Measurement:
    """Return one figure of a judge beside an authority, with the account of all dialogues of the part."""
    outcomes = outcomes_of(_pair_outcome(one) for one in found.seen)
    is_plain = measure in {Measure.EXACT_AGREEMENT, Measure.RELAXED_AGREEMENT}
    return Measurement(
        measure=measure,
        weighting=weighting,
        subject=replace(
            part.subject,
            guideline=found.guideline.name,
            question=found.question.name,
            rule=found.rule.name if found.rule else "",
            condition=found.rule.condition if found.rule else "",
            annotators=(found.authority.name, found.judge.name),
        ),
        result=explained(result, outcomes),
        outcomes=outcomes,
        versions=versions_of(found.guideline, [found.judge, found.authority]),
        bounds=bounds_of(result, outcomes) if is_plain else None,
    )


def _pair_outcome(one: Sighting) -> Outcome:
    """Return what became of one comparison: the judge's failure to answer, else the person's."""
    return one.person.outcome if one.judge.value is not None else one.judge.outcome


def agreement_figures(found: Sightings, part: Part) -> Iterator[Measurement]:
    """Yield how far the judge's labels are the authority's, on one question.

    All figures rest on the dialogues with readable labels of both (ADR-0062).
    Where people labelled a sample, plain agreement is that of all dialogues which
    the judge could read, for which the sample stands; coefficients beyond chance
    are of the labelled dialogues alone.
    """
    read = found.readable
    both, scale = read.labelled, found.question.scale
    people, judge = [one.person.value for one in both.seen], [one.judge.value for one in both.seen]
    plain = exact_agreement(people, judge, clusters=both.clusters)
    yield figure_of(found, part, Measure.EXACT_AGREEMENT, _of_all(read, plain, _same))
    if is_ordered(scale):
        near = relaxed_agreement(people, judge, categories=scale.categories, clusters=both.clusters)
        near = _of_all(read, near, lambda one: _near(one, scale.categories))
        yield figure_of(found, part, Measure.RELAXED_AGREEMENT, near)
    kappa = cohen_kappa(people, judge, categories=scale.categories, clusters=both.clusters)
    yield figure_of(found, part, Measure.COHEN_KAPPA, kappa, weighting=UNWEIGHTED)
    if part.subject.is_part:  # small parts have no use for three coefficients more
        return
    yield from _coefficients(found, part, people, judge)
    if found.design.census:  # of a sample drawn by verdicts neither precision nor recall stands for all
        report = classification_report(people, judge, categories=scale.categories, clusters=both.clusters)
        for measure, label, result in class_figures(report):
            figure = figure_of(found, part, measure, result)
            yield replace(figure, subject=replace(figure.subject, label=label))


def _coefficients(
    found: Sightings, part: Part, people: Sequence[str | None], judge: Sequence[str | None]
) -> Iterator[Measurement]:
    scale = found.question.scale
    weights: Weights = "quadratic" if is_ordered(scale) else "identity"
    clusters = found.readable.labelled.clusters
    coefficient = gwet_ac([people, judge], categories=scale.categories, weights=weights, clusters=clusters)
    yield figure_of(found, part, Measure.GWET_AC, coefficient, weighting=Weighting(weights))
    kind: AlphaScale = "ordinal" if is_ordered(scale) else "nominal"
    places = {label: float(place) for place, label in enumerate(scale.categories)}
    table = [[math.nan if label is None else places[label] for label in row] for row in (people, judge)]
    alpha = krippendorff_alpha(table, scale=kind, clusters=clusters)
    yield figure_of(found, part, Measure.KRIPPENDORFF_ALPHA, alpha, weighting=Weighting(kind))


def _of_all(
    found: Sightings, plain: Estimate | Undefined, hit: Callable[[Sighting], bool | None]
) -> Estimate | Undefined:
    """Return an agreement on all dialogues: as counted where all were labelled, else by what the labelled stand for."""
    if found.design.census or isinstance(plain, Undefined):
        return plain
    weighed = share_in_all(found, hit)
    return weighed if isinstance(weighed, Undefined) else replace(weighed, chance=plain.chance)


def _same(one: Sighting) -> bool:
    return one.judge.value == one.person.value


def _near(one: Sighting, scale: Sequence[str]) -> bool:
    if one.judge.value is None or one.person.value is None:
        return False
    return abs(scale.index(one.judge.value) - scale.index(one.person.value)) <= 1


def accuracy_figures(found: Sightings, part: Part) -> Iterator[Measurement]:
    """Yield how often the judge's verdicts by one defect rule are right, if anybody's labels can tell."""
    seen = found.open
    labels = [found.verdict(one.person) if found.design.counts(one.place) else None for one in seen.seen]
    if all(label is None for label in labels):
        return
    strata = None if found.design.census else [found.design.strata.get(one.place, "") for one in seen.seen]
    verdicts = [found.verdict(one.judge) for one in seen.seen]
    accuracy = judge_accuracy(verdicts, labels, drawn_from=strata, clusters=seen.clusters)
    figures = {
        Measure.JUDGE_SENSITIVITY: accuracy.sensitivity,
        Measure.JUDGE_SPECIFICITY: accuracy.specificity,
        Measure.JUDGE_PRECISION: accuracy.precision,
        Measure.JUDGE_CLEAN_RATE: accuracy.clean_rate,
        Measure.JUDGE_BIAS: accuracy.bias,
        Measure.JUDGE_RATE: accuracy.judge_rate,
        Measure.CORRECTED_RATE: share_in_all(found, lambda one: found.verdict(one.person)),
    }
    for measure, result in figures.items():
        yield figure_of(found, part, measure, result)
    yield from _under_annotation(found, part)


def _under_annotation(found: Sightings, part: Part) -> Iterator[Measurement]:
    """Yield in how many of people's defects the judge refused to answer: harm that it did not want to look at."""
    defects = [one for one in found.labelled.seen if found.verdict(one.person)]
    refused = sum(one.judge.outcome is Outcome.REFUSED for one in defects)
    if refused:
        yield figure_of(found, part, Measure.REFUSED_DEFECTS, _share(refused, len(defects)))


def _share(count: int, n: int) -> Estimate | Undefined:
    return defect_rate(count, n) if n else Undefined(reason="There is no such dialogue.", unit=DIALOGUES)


def manner_figures(seen: Sightings | None) -> Iterator[Measurement]:
    """Yield how often the judge gave nothing that could be read, and how often it refused."""
    if seen is None or not seen.seen:
        return
    subject = EstimateSubject(
        application=ALL_APPLICATIONS,
        guideline=seen.guideline.name,
        question=seen.question.name,
        annotators=(seen.judge.name,),
    )
    part = Part(subject=subject, places=tuple(one.place for one in seen.seen))
    shares = ((Measure.UNPARSEABLE_SHARE, Outcome.UNPARSEABLE), (Measure.REFUSED_SHARE, Outcome.REFUSED))
    for measure, outcome in shares:
        count = sum(one.judge.outcome is outcome for one in seen.seen)
        yield replace(figure_of(seen, part, measure, _share(count, len(seen.seen))), subject=subject)
