"""Figures of a judge: agreement, accuracy and manners on some dialogues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.certificate import ALL_APPLICATIONS
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.classification import classification_report
from theodolite.measurement.correction.accuracy import judge_accuracy
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.likeness import Weights
from theodolite.measurement.panel import gwet_ac
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.study.agreements import UNWEIGHTED, bounds_of, class_figures, explained, is_ordered
from theodolite.measurement.study.corrected import share_in_all
from theodolite.measurement.study.parts import Part
from theodolite.measurement.study.sightings import Sighting, Sightings


def figure_of(found: Sightings, part: Part, measure: str, result: Estimate | Undefined, **about: str) -> Measurement:
    """Return one figure of a judge beside an authority, with the account of all dialogues of the part."""
    rule = {"rule": found.rule.name, "condition": found.rule.condition} if found.rule else {}
    outcomes = outcomes_of(_outcome(one) for one in found.seen)
    is_plain = measure in {exact_agreement.__name__, relaxed_agreement.__name__}
    return Measurement(
        measure=measure,
        application=part.application,
        about={
            "guideline": found.guideline.name,
            "question": found.question.name,
            **rule,
            "first": found.authority.name,
            "second": found.judge.name,
            **part.about,
            **about,
        },
        result=explained(result, outcomes),
        outcomes=outcomes,
        versions=versions_of(found.guideline, [found.judge, found.authority]),
        bounds=bounds_of(result, outcomes) if is_plain else None,
    )


def _outcome(one: Sighting) -> Outcome:
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
    yield figure_of(found, part, exact_agreement.__name__, _of_all(read, plain, _same))
    if is_ordered(scale):
        near = relaxed_agreement(people, judge, categories=scale.categories, clusters=both.clusters)
        near = _of_all(read, near, lambda one: _near(one, scale.categories))
        yield figure_of(found, part, relaxed_agreement.__name__, near)
    kappa = cohen_kappa(people, judge, categories=scale.categories, clusters=both.clusters)
    yield figure_of(found, part, cohen_kappa.__name__, kappa, **UNWEIGHTED)
    if part.about:  # small parts have no use for three coefficients more
        return
    yield from _coefficients(found, part, people, judge)
    if found.design.census:  # of a sample drawn by verdicts neither precision nor recall stands for all
        report = classification_report(people, judge, categories=scale.categories, clusters=both.clusters)
        for measure, about, result in class_figures(report):
            yield figure_of(found, part, measure, result, **about)


def _coefficients(
    found: Sightings, part: Part, people: Sequence[str | None], judge: Sequence[str | None]
) -> Iterator[Measurement]:
    scale = found.question.scale
    weights: Weights = "quadratic" if is_ordered(scale) else "identity"
    clusters = found.readable.labelled.clusters
    coefficient = gwet_ac([people, judge], categories=scale.categories, weights=weights, clusters=clusters)
    yield figure_of(found, part, gwet_ac.__name__, coefficient, weights=weights)
    kind: AlphaScale = "ordinal" if is_ordered(scale) else "nominal"
    places = {label: float(place) for place, label in enumerate(scale.categories)}
    table = [[math.nan if label is None else places[label] for label in row] for row in (people, judge)]
    alpha = krippendorff_alpha(table, scale=kind, clusters=clusters)
    yield figure_of(found, part, krippendorff_alpha.__name__, alpha, scale=kind)


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
        "judge_sensitivity": accuracy.sensitivity,
        "judge_specificity": accuracy.specificity,
        "judge_precision": accuracy.precision,
        "judge_clean_rate": accuracy.clean_rate,
        "judge_bias": accuracy.bias,
        "judge_rate": accuracy.judge_rate,
        "corrected_rate": share_in_all(found, lambda one: found.verdict(one.person)),
    }
    for measure, result in figures.items():
        yield figure_of(found, part, measure, result)
    yield from _under_annotation(found, part)


def _under_annotation(found: Sightings, part: Part) -> Iterator[Measurement]:
    """Yield in how many of people's defects the judge refused to answer: harm that it did not want to look at."""
    defects = [one for one in found.labelled.seen if found.verdict(one.person)]
    refused = sum(one.judge.outcome is Outcome.REFUSED for one in defects)
    if refused:
        yield figure_of(found, part, "refused_defects", _share(refused, len(defects)))


def _share(count: int, n: int) -> Estimate | Undefined:
    return defect_rate(count, n) if n else Undefined(reason="There is no such dialogue.", unit=DIALOGUES)


def manner_figures(seen: Sightings | None) -> Iterator[Measurement]:
    """Yield how often the judge gave nothing that could be read, and how often it refused."""
    if seen is None or not seen.seen:
        return
    part = Part(application=ALL_APPLICATIONS, about={}, places=tuple(one.place for one in seen.seen))
    for measure, outcome in (("unparseable_share", Outcome.UNPARSEABLE), ("refused_share", Outcome.REFUSED)):
        count = sum(one.judge.outcome is outcome for one in seen.seen)
        yield replace(figure_of(seen, part, measure, _share(count, len(seen.seen))), about=_of_judge(seen))


def _of_judge(found: Sightings) -> dict[str, str]:
    return {"guideline": found.guideline.name, "question": found.question.name, "annotator": found.judge.name}
