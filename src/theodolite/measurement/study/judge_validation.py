"""Certifying: everything that labels tell about one judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import versions_of
from theodolite.domain.answers import outcomes_of
from theodolite.domain.estimate import Confusion, Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue, Measure, Weighting
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.measurement.agreement import classification_report, exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.correction.rate import judge_accuracy
from theodolite.measurement.kappa import Weights, cohen_kappa, gwet_ac
from theodolite.measurement.labels import confusion_matrix
from theodolite.measurement.probes import human_ceiling
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.rater_groups import cross_agreement
from theodolite.measurement.study.agreements import UNWEIGHTED, bounds_of, class_figures, explained, is_ordered
from theodolite.measurement.study.annotator_groups import FEWEST
from theodolite.measurement.study.corrected_rates import share_in_all
from theodolite.measurement.study.judge_diagnostics import habit_figures, length_figure
from theodolite.measurement.study.paired_labels import Design, Part, Sighting, Sightings, parts_of, sightings

UNREADABLE = Outcome.UNPARSEABLE.value

"""Category of the judge's labels that cannot be read."""


MOST_JUDGES_BESIDE = 10

"""Other judges that a judge is compared with; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFindings:
    """What was found about a judge.

    Attributes:
        measurements: All figures.
        confusions: Who said what where another said what.
        authorities: Against whom it was held; empty where nobody has labelled.
        judged: Dialogues that the judge has looked at; count.
        labelled: Those that somebody it was held against has labelled; count.
    """

    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...]
    authorities: tuple[str, ...]
    judged: int
    labelled: int


def certify(evidence: Evidence, judge: str) -> JudgeFindings:
    """Hold a judge against everybody who has labelled what it labelled.

    The reference stands for people where the study has one; else each person
    is an authority of her own, since labels are never merged.

    Args:
        evidence: All records of one run.
        judge: Name of the judge.
    """
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    wide = _all_wide(evidence, guideline, judge)
    measurements = [one for found in wide for one in _against(evidence, found)]
    seen = wide[0].judged if wide else _alone(evidence, guideline, judge)
    manners = (*manner_figures(seen), *habit_figures(evidence, judge, guideline))
    by_group = group_figures(evidence, guideline, judge)
    others = _beside_judges(evidence, guideline, judge)
    return JudgeFindings(
        measurements=(*measurements, *_ceiling(evidence, guideline, judge), *by_group, *others, *manners),
        confusions=tuple(confusion for found in wide for confusion in _confusions(evidence, found)),
        authorities=tuple(found.authority.name for found in wide),
        judged=len(seen.seen) if seen else 0,
        labelled=len({one.place for found in wide for one in found.labelled.seen}),
    )


def authorities_of(evidence: Evidence, judge: str) -> tuple[str, ...]:
    """Return whom a judge can be held against: the reference, or else each person who labelled what it labelled."""
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    return tuple(found.authority.name for found in _all_wide(evidence, guideline, judge))


def _all_wide(evidence: Evidence, guideline: Guideline, judge: str) -> list[Sightings]:
    return [found for name in _authorities(evidence, guideline) if (found := _wide(evidence, guideline, judge, name))]


def _authorities(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    reference = evidence.study.reference
    if reference is not None and reference.guideline == guideline.name:
        return (REFERENCE,)
    return _people(evidence, guideline)


def _people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    study = evidence.study
    return tuple(a.name for a in study.annotators if a.guideline == guideline.name and a.kind is AnnotatorKind.PERSON)


def _wide(evidence: Evidence, guideline: Guideline, judge: str, authority: str) -> Sightings | None:
    """Return a judge beside an authority on the main question; None where no dialogue has labels of both."""
    found = sightings(evidence, guideline, guideline.question, (judge, authority))
    return found if found is not None and found.labelled.seen else None


def _alone(evidence: Evidence, guideline: Guideline, judge: str) -> Sightings | None:
    """Return a judge beside itself, where nobody else has labelled."""
    found = sightings(evidence, guideline, guideline.question, (judge, judge))
    return found.judged if found is not None else None


def _against(evidence: Evidence, found: Sightings) -> Iterator[Measurement]:
    """Yield all figures of a judge held against one authority."""
    for question in _questions(found.guideline):
        names = (found.judge.name, found.authority.name)
        asked = sightings(evidence, found.guideline, question, names)
        if asked is not None:
            for part in parts_of(evidence, asked):
                yield from agreement_figures(asked.among(part.places), part)
    for rule in found.guideline.defect_rules:
        question = found.guideline.instrument.question(rule.question)
        names = (found.judge.name, found.authority.name)
        ruled = sightings(evidence, found.guideline, question, names, rule=rule)
        if ruled is not None:
            for part in parts_of(evidence, ruled):
                yield from accuracy_figures(ruled.among(part.places), part)
            yield from length_figure(evidence, ruled)


def _questions(guideline: Guideline) -> Iterator[Question]:
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
            yield question


def _ceiling(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    if guideline.question in _questions(guideline):
        yield from ceiling_figures(evidence, guideline, _labelled_people(evidence, guideline), judge)


def _beside_judges(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    """Yield how far the judge's labels on the main question are those of every other judge."""
    if guideline.question not in _questions(guideline):
        return
    study = evidence.study
    others = [a.name for a in study.annotators if a.guideline == guideline.name and a.kind is not AnnotatorKind.PERSON]
    for other in [name for name in others if name != judge][:MOST_JUDGES_BESIDE]:
        found = sightings(evidence, guideline, guideline.question, (judge, other))
        if found is not None and found.labelled.seen:
            whole = next(iter(parts_of(evidence, found)))
            yield from agreement_figures(replace(found.among(whole.places), design=Design(census=True)), whole)


def _labelled_people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    """Return the people of a guideline who have labelled anything."""
    marks = evidence.answers.marks
    return tuple(name for name in _people(evidence, guideline) if any(marks.get(name, ())))


def _confusions(evidence: Evidence, found: Sightings) -> Iterator[Confusion]:
    comparable = found.question in _questions(found.guideline)
    for part in parts_of(evidence, found) if comparable else ():
        if part.subject.is_part:
            continue
        both = found.among(part.places).labelled
        judge = [one.judge.value or UNREADABLE for one in both.seen]
        scale = found.question.scale.categories
        categories = (*scale, UNREADABLE) if UNREADABLE in judge else scale
        yield Confusion(
            application=part.subject.application,
            guideline=found.guideline.name,
            question=found.question.name,
            first=found.authority.name,
            second=found.judge.name,
            matrix=confusion_matrix([one.person.value for one in both.seen], judge, categories=categories),
        )


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
