"""Judge beside groups: how far a judge says what people of each self-described group say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.estimate import Measurement
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.measurement.raters.groups import cross_agreement
from theodolite.measurement.study.annotator_groups import FEWEST
from theodolite.measurement.study.sightings import Sighting, Sightings, sightings

Seen = Mapping[int, Sighting]
"""Position to what a judge and one person say there."""


def group_figures(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    """Yield a judge's agreement beyond chance with the people of each group, on the main question.

    A judge that was tuned by a majority may follow one group and not another.
    It is on the dialogues that both labelled; what cannot be read of the judge is
    left out and counted (ADR-0062). Groups of fewer than three people are left out.

    Args:
        evidence: All records of one run.
        guideline: What all answer.
        judge: Name of the judge.

    AnswerSource:
        See `cross_agreement`.
    """
    question = guideline.question
    if not evidence.described or question.level is not QuestionLevel.DIALOGUE or not question.scale.categories:
        return
    beside = {
        person.name: found
        for person in evidence.study.annotators
        if person.kind is AnnotatorKind.PERSON and person.guideline == guideline.name
        for found in [sightings(evidence, guideline, question, (judge, person.name))]
        if found is not None and found.labelled.seen
    }
    for attribute, group_of in sorted(evidence.described.items()):
        for group in sorted(set(group_of.values())):
            members = [found for name, found in beside.items() if group_of.get(name) == group]
            if len(members) >= FEWEST:
                yield _figure(members, GroupValue(name=attribute, value=group))


def _figure(members: Sequence[Sightings], group: GroupValue) -> Measurement:
    first = members[0]
    seen: list[Seen] = [{one.place: one for one in found.judged.seen} for found in members]
    met = {place: one for by_place in seen for place, one in by_place.items()}
    places = sorted(met)
    clusters = [met[place].setting.cluster or f"session {place}" for place in places]
    people = [[one.person.value if (one := of.get(place)) else None for place in places] for of in seen]
    result = cross_agreement(
        [[met[place].judge.value for place in places]],
        people,
        categories=first.question.scale.categories,
        clusters=clusters if len(set(clusters)) < len(clusters) else None,
    )
    return Measurement(
        measure=Measure.CROSS_AGREEMENT,
        subject=EstimateSubject(
            application=ALL_APPLICATIONS,
            guideline=first.guideline.name,
            question=first.question.name,
            annotators=(first.judge.name,),
            n_people=len(members),
            annotator_group=group,
        ),
        result=result,
        outcomes=outcomes_of(_group_outcome(met[place], [of[place] for of in seen if place in of]) for place in places),
        versions=versions_of(first.guideline, [first.judge, *(found.authority for found in members)]),
    )


def _group_outcome(judged: Sighting, by_people: Sequence[Sighting]) -> Outcome:
    """Return what became of one dialogue: the judge's failure to answer, else that of all people."""
    if judged.judge.value is None:
        return judged.judge.outcome
    labelled = any(one.person.value is not None for one in by_people)
    return Outcome.ANSWERED if labelled else by_people[0].person.outcome
