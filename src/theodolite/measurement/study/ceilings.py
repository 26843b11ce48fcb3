"""Ceilings: how far people agree with each other, which is all that one can ask of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.estimate import Measurement
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.measurement.probes import human_ceiling
from theodolite.measurement.study.judge_figures import agreement_figures
from theodolite.measurement.study.parts import parts_of
from theodolite.measurement.study.sightings import Design, Sighting, Sightings, sightings

MOST_PAIRED: Final = 5
"""People of whom each pair is compared; more are a crowd, in which single pairs tell nothing. Count."""


def ceiling_figures(
    evidence: Evidence, guideline: Guideline, people: Sequence[str], judge: str
) -> Iterator[Measurement]:
    """Yield how far people agree on the main question: each pair of a few, or all of many with the judge beside them.

    Args:
        evidence: All records of one run.
        guideline: What all answer.
        people: Names of those who labelled.
        judge: Name of the judge.
    """
    if len(people) <= MOST_PAIRED:
        for pair in combinations(people, 2):
            yield from _pair(evidence, guideline, *pair)
    else:
        yield from _crowd([found for name in people if (found := _beside(evidence, guideline, judge, name))])


def _pair(evidence: Evidence, guideline: Guideline, first: str, second: str) -> Iterator[Measurement]:
    found = _beside(evidence, guideline, second, first)
    if found is None:
        return
    for part in parts_of(evidence, found):
        for figure in agreement_figures(replace(found.among(part.places), design=Design(census=True)), part):
            yield replace(figure, subject=replace(figure.subject, is_human_ceiling=True))


def _beside(evidence: Evidence, guideline: Guideline, judge: str, person: str) -> Sightings | None:
    found = sightings(evidence, guideline, guideline.question, (judge, person))
    return found if found is not None and found.labelled.seen else None


def _crowd(found: Sequence[Sightings]) -> Iterator[Measurement]:
    """Yield how near a judge comes to everybody, and how near people come to each other, on the same dialogues."""
    if not found:
        return
    first = found[0]
    seen = [{one.place: one for one in own.judged.seen} for own in found]
    met: dict[int, Sighting] = {place: one for by_place in seen for place, one in by_place.items()}
    places = sorted(met)
    clusters = [met[place].setting.cluster or f"session {place}" for place in places]
    ceiling = human_ceiling(
        [met[place].judge.value for place in places],
        [[one.person.value if (one := of.get(place)) else None for place in places] for of in seen],
        clusters=clusters if len(set(clusters)) < len(clusters) else None,
    )
    figures = {
        Measure.AGREEMENT_WITH_PEOPLE: ceiling.judge,
        Measure.AGREEMENT_AMONG_PEOPLE: ceiling.people,
        Measure.NEARER_THAN_PEOPLE: ceiling.gap,
    }
    for measure, result in figures.items():
        yield Measurement(
            measure=measure,
            subject=EstimateSubject(
                application=ALL_APPLICATIONS,
                guideline=first.guideline.name,
                question=first.question.name,
                annotators=(first.judge.name,),
                n_people=len(found),
                is_human_ceiling=True,
            ),
            result=result,
            outcomes=outcomes_of(_ceiling_outcome([of[place] for of in seen if place in of]) for place in places),
            versions=versions_of(first.guideline, [first.judge, *(own.authority for own in found)]),
        )


def _ceiling_outcome(beside: Sequence[Sighting]) -> Outcome:
    """Return what became of one dialogue: the judge's failure to answer, or that fewer than two people labelled it."""
    judge = beside[0].judge
    if judge.value is None:
        return judge.outcome
    labelled = sum(one.person.value is not None for one in beside)
    return Outcome.ANSWERED if labelled >= 2 else Outcome.MISSING
