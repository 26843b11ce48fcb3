"""Figures of a judge: agreement, accuracy and manners on some dialogues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.certificate import ALL_APPLICATIONS
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.correction.accuracy import judge_accuracy
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.likeness import Weights
from theodolite.measurement.panel import gwet_ac
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.study.corrected import share_in_all
from theodolite.measurement.study.parts import Part
from theodolite.measurement.study.sightings import Sighting, Sightings

UNREADABLE_BY_JUDGE = f"{Outcome.UNPARSEABLE.value} by the judge"
"""The judge's label where it gives none that can be read; it agrees with none of people's."""


def figure_of(found: Sightings, part: Part, measure: str, result: Estimate | Undefined, **about: str) -> Measurement:
    """Return one figure of a judge beside an authority, with the account of all dialogues of the part."""
    rule = {"rule": found.rule.name, "condition": found.rule.condition} if found.rule else {}
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
        result=result,
        outcomes=outcomes_of(_outcome(one) for one in found.seen),
        versions=versions_of(found.guideline, [found.judge, found.authority]),
    )


def _outcome(one: Sighting) -> Outcome:
    """Return what became of one comparison: the judge's failure to answer, else the person's."""
    return one.person.outcome if one.judge.value is not None else one.judge.outcome


def agreement_figures(found: Sightings, part: Part) -> Iterator[Measurement]:
    """Yield how far the judge's labels are the authority's, on one question.

    An unreadable label agrees with nothing. Where people labelled a sample, plain
    agreement is that of all dialogues, which the sample stands for; coefficients
    beyond chance are of the labelled dialogues alone.
    """
    both = found.labelled
    people = [one.person.value for one in both.seen]
    judge = [one.judge.value or UNREADABLE_BY_JUDGE for one in both.seen]
    scale = [*found.question.scale.categories]
    plain = exact_agreement(people, judge, clusters=both.clusters)
    yield figure_of(found, part, exact_agreement.__name__, _of_all(found, plain, _same))
    if _is_ordered(found):
        far = {point: float(place) for place, point in enumerate(scale)} | {UNREADABLE_BY_JUDGE: 2.0 * len(scale)}
        near = relaxed_agreement([far[p or ""] for p in people], [far[j] for j in judge], clusters=both.clusters)
        yield figure_of(found, part, relaxed_agreement.__name__, _of_all(found, near, lambda one: _near(one, scale)))
    strange = [UNREADABLE_BY_JUDGE] if UNREADABLE_BY_JUDGE in judge else []
    kappa = cohen_kappa(people, judge, categories=[*scale, *strange], clusters=both.clusters)
    yield figure_of(found, part, cohen_kappa.__name__, kappa)
    if part.about:  # small parts have no use for three coefficients more
        return
    yield from _coefficients(found, part, people, [one.judge.value for one in both.seen])


def _coefficients(
    found: Sightings, part: Part, people: Sequence[str | None], judge: Sequence[str | None]
) -> Iterator[Measurement]:
    """Yield the coefficients that leave out what cannot be read."""
    scale = found.question.scale.categories
    weights: Weights = "quadratic" if _is_ordered(found) else "identity"
    clusters = found.labelled.clusters
    coefficient = gwet_ac([people, judge], categories=scale, weights=weights, clusters=clusters)
    yield figure_of(found, part, gwet_ac.__name__, coefficient, weights=weights)
    kind: AlphaScale = "ordinal" if _is_ordered(found) else "nominal"
    table = [[float("nan") if label is None else float(scale.index(label)) for label in row] for row in (people, judge)]
    alpha = krippendorff_alpha(table, scale=kind, clusters=clusters)
    yield figure_of(found, part, krippendorff_alpha.__name__, alpha, scale=kind)


def _is_ordered(found: Sightings) -> bool:
    return found.question.scale.ordered or found.question.scale.is_numeric


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
