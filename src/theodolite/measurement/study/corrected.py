"""Corrected rates: what people would find, from a judge's verdicts on all and people's labels on some."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from theodolite.domain.answer_rules import versions_of
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, Measure
from theodolite.measurement.correction.rate import corrected_rate
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.study.sightings import Sighting, Sightings

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
