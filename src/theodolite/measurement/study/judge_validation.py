"""Validation of a judge: agreement and accuracy against people, the human ceiling, and groups."""

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
from theodolite.domain.evidence import Evidence, blind_evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.undefined_reasons import NO_SUCH_DIALOGUE
from theodolite.measurement.agreement import classification_report, exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.correction import judge_accuracy
from theodolite.measurement.kappa import Weights, cohen_kappa, gwet_ac
from theodolite.measurement.labels import confusion_matrix, shared_clusters
from theodolite.measurement.probes import human_ceiling
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.rater_models import cross_agreement
from theodolite.measurement.study.agreements import FEWEST, UNWEIGHTED, bounds_of, class_figures, explained, is_ordered
from theodolite.measurement.study.judge_diagnostics import behaviour_figures, length_figure
from theodolite.measurement.study.paired_labels import (
    Design,
    DialogueSubset,
    LabelPair,
    PairedLabels,
    pair_labels,
    parts_of,
)
from theodolite.measurement.study.rates import share_in_all

UNREADABLE = Outcome.UNPARSEABLE.value
"""Category of the judge's labels that cannot be read."""

MOST_JUDGES_BESIDE = 10
"""Other judges that a judge is compared with; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFindings:
    """The results of validating a judge.

    Attributes:
        measurements: All figures.
        confusions: Labels of one annotator by labels of another.
        authorities: The annotators with whom it was compared; empty without labels.
        judged: Dialogues that the judge has read; count.
        labelled: Dialogues with a label for comparison; count.
    """

    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...]
    authorities: tuple[str, ...]
    judged: int
    labelled: int


def validate_judge(evidence: Evidence, judge: str) -> JudgeFindings:
    """Validate a judge against all annotators of the same dialogues.

    The reference represents people if the study has one; otherwise each person
    is a separate authority, because labels are never merged. Labels of people who saw
    suggestions of a judge are excluded.
    """
    evidence = blind_evidence(evidence)
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    by_authority = _all_paired(evidence, guideline, judge)
    measurements = [figure for paired in by_authority for figure in _figures_against(evidence, paired)]
    pairs = by_authority[0].judged if by_authority else _with_itself(evidence, guideline, judge)
    manners = (*failure_figures(pairs), *behaviour_figures(evidence, judge, guideline))
    by_group = group_figures(evidence, guideline, judge)
    others = _compared_judges(evidence, guideline, judge)
    return JudgeFindings(
        measurements=(*measurements, *_ceiling(evidence, guideline, judge), *by_group, *others, *manners),
        confusions=tuple(confusion for paired in by_authority for confusion in _confusions(evidence, paired)),
        authorities=tuple(paired.authority.name for paired in by_authority),
        judged=len(pairs.pairs) if pairs else 0,
        labelled=len({figure.position for paired in by_authority for figure in paired.labelled.pairs}),
    )


def authorities_of(evidence: Evidence, judge: str) -> tuple[str, ...]:
    """Return the authorities for a judge: the reference, or else each annotator of the same dialogues."""
    evidence = blind_evidence(evidence)
    guideline = evidence.study.guideline(evidence.study.annotator(judge).guideline)
    return tuple(paired.authority.name for paired in _all_paired(evidence, guideline, judge))


def _all_paired(evidence: Evidence, guideline: Guideline, judge: str) -> list[PairedLabels]:
    return [
        paired
        for name in _authorities(evidence, guideline)
        if (paired := _with_authority(evidence, guideline, judge, name))
    ]


def _authorities(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    reference = evidence.study.reference
    if reference is not None and reference.guideline == guideline.name:
        return (REFERENCE,)
    return _people(evidence, guideline)


def _people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    study = evidence.study
    return tuple(a.name for a in study.annotators if a.guideline == guideline.name and a.kind is AnnotatorKind.PERSON)


def _with_authority(evidence: Evidence, guideline: Guideline, judge: str, authority: str) -> PairedLabels | None:
    """Return a judge paired with an authority on the main question; None if no dialogue has labels of both."""
    paired = pair_labels(evidence, guideline, guideline.question, (judge, authority))
    return paired if paired is not None and paired.labelled.pairs else None


def _with_itself(evidence: Evidence, guideline: Guideline, judge: str) -> PairedLabels | None:
    """Return a judge paired with itself, for judges without an authority."""
    paired = pair_labels(evidence, guideline, guideline.question, (judge, judge))
    return paired.judged if paired is not None else None


def _figures_against(evidence: Evidence, paired: PairedLabels) -> Iterator[Measurement]:
    """Yield all figures of a judge compared with one authority."""
    for question in _questions(paired.guideline):
        names = (paired.judge.name, paired.authority.name)
        on_question = pair_labels(evidence, paired.guideline, question, names)
        if on_question is not None:
            for part in parts_of(evidence, on_question):
                yield from agreement_figures(on_question.among(part.positions), part)
    for rule in paired.guideline.defect_rules:
        question = paired.guideline.instrument.question(rule.question)
        names = (paired.judge.name, paired.authority.name)
        on_rule = pair_labels(evidence, paired.guideline, question, names, rule=rule)
        if on_rule is not None:
            for part in parts_of(evidence, on_rule):
                yield from accuracy_figures(on_rule.among(part.positions), part)
            yield from length_figure(evidence, on_rule)


def _questions(guideline: Guideline) -> Iterator[Question]:
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
            yield question


def _ceiling(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    if guideline.question in _questions(guideline):
        yield from ceiling_figures(evidence, guideline, _labelled_people(evidence, guideline), judge)


def _compared_judges(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    """Yield the agreement of the judge with every other judge on the main question."""
    if guideline.question not in _questions(guideline):
        return
    study = evidence.study
    others = [a.name for a in study.annotators if a.guideline == guideline.name and a.kind is not AnnotatorKind.PERSON]
    for other in [name for name in others if name != judge][:MOST_JUDGES_BESIDE]:
        paired = pair_labels(evidence, guideline, guideline.question, (judge, other))
        if paired is not None and paired.labelled.pairs:
            whole = next(iter(parts_of(evidence, paired)))
            yield from agreement_figures(replace(paired.among(whole.positions), design=Design(census=True)), whole)


def _labelled_people(evidence: Evidence, guideline: Guideline) -> tuple[str, ...]:
    """Return the people of a guideline with at least one label."""
    marks = evidence.answers.marks
    return tuple(name for name in _people(evidence, guideline) if any(marks.get(name, ())))


def _confusions(evidence: Evidence, paired: PairedLabels) -> Iterator[Confusion]:
    comparable = paired.question in _questions(paired.guideline)
    for part in parts_of(evidence, paired) if comparable else ():
        if part.subject.is_part:
            continue
        both = paired.among(part.positions).labelled
        judge = [pair.judge.value or UNREADABLE for pair in both.pairs]
        scale = paired.question.scale.categories
        categories = (*scale, UNREADABLE) if UNREADABLE in judge else scale
        yield Confusion(
            application=part.subject.application,
            guideline=paired.guideline.name,
            question=paired.question.name,
            first=paired.authority.name,
            second=paired.judge.name,
            matrix=confusion_matrix([pair.person.value for pair in both.pairs], judge, categories=categories),
        )


def figure_of(
    paired: PairedLabels,
    part: DialogueSubset,
    measure: Measure,
    result: Estimate | Undefined,
    *,
    weighting: Weighting | None = None,
) -> Measurement:
    """Return one figure of a judge and an authority, with the outcomes of all dialogues of the part."""
    outcomes = outcomes_of(_pair_outcome(pair) for pair in paired.pairs)
    is_plain = measure in {Measure.EXACT_AGREEMENT, Measure.RELAXED_AGREEMENT}
    return Measurement(
        measure=measure,
        weighting=weighting,
        subject=replace(
            part.subject,
            guideline=paired.guideline.name,
            question=paired.question.name,
            rule=paired.rule.name if paired.rule else "",
            condition=paired.rule.condition if paired.rule else "",
            annotators=(paired.authority.name, paired.judge.name),
        ),
        result=explained(result, outcomes),
        outcomes=outcomes,
        versions=versions_of(paired.guideline, [paired.judge, paired.authority]),
        bounds=bounds_of(result, outcomes) if is_plain else None,
    )


def _pair_outcome(pair: LabelPair) -> Outcome:
    """Return the outcome of one comparison: the judge's failure to answer, else the person's."""
    return pair.person.outcome if pair.judge.value is not None else pair.judge.outcome


def agreement_figures(paired: PairedLabels, part: DialogueSubset) -> Iterator[Measurement]:
    """Yield the agreement of the judge with the authority on one question.

    All figures use the dialogues with readable labels of both (ADR-0062).
    If people labelled a sample, plain agreement is estimated for all dialogues that
    the judge could read, which the sample represents; coefficients beyond chance
    describe only the labelled dialogues.
    """
    read = paired.readable
    both, scale = read.labelled, paired.question.scale
    people, judge = [pair.person.value for pair in both.pairs], [pair.judge.value for pair in both.pairs]
    plain = exact_agreement(people, judge, clusters=both.clusters)
    yield figure_of(paired, part, Measure.EXACT_AGREEMENT, _of_all(read, plain, _same))
    if is_ordered(scale):
        near = relaxed_agreement(people, judge, categories=scale.categories, clusters=both.clusters)
        near = _of_all(read, near, lambda pair: _near(pair, scale.categories))
        yield figure_of(paired, part, Measure.RELAXED_AGREEMENT, near)
    kappa = cohen_kappa(people, judge, categories=scale.categories, clusters=both.clusters)
    yield figure_of(paired, part, Measure.COHEN_KAPPA, kappa, weighting=UNWEIGHTED)
    if part.subject.is_part:  # small parts have no use for three coefficients more
        return
    yield from _coefficients(paired, part, people, judge)
    if paired.design.census:  # precision and recall of a sample drawn by verdicts do not generalise
        report = classification_report(people, judge, categories=scale.categories, clusters=both.clusters)
        for measure, label, result in class_figures(report):
            figure = figure_of(paired, part, measure, result)
            yield replace(figure, subject=replace(figure.subject, label=label))


def _coefficients(
    paired: PairedLabels, part: DialogueSubset, people: Sequence[str | None], judge: Sequence[str | None]
) -> Iterator[Measurement]:
    scale = paired.question.scale
    weights: Weights = "quadratic" if is_ordered(scale) else "identity"
    clusters = paired.readable.labelled.clusters
    coefficient = gwet_ac([people, judge], categories=scale.categories, weights=weights, clusters=clusters)
    yield figure_of(paired, part, Measure.GWET_AC, coefficient, weighting=Weighting(weights))
    kind: AlphaScale = "ordinal" if is_ordered(scale) else "nominal"
    positions = {label: float(position) for position, label in enumerate(scale.categories)}
    table = [[math.nan if label is None else positions[label] for label in row] for row in (people, judge)]
    alpha = krippendorff_alpha(table, scale=kind, clusters=clusters)
    yield figure_of(paired, part, Measure.KRIPPENDORFF_ALPHA, alpha, weighting=Weighting(kind))


def _of_all(
    paired: PairedLabels, plain: Estimate | Undefined, hit: Callable[[LabelPair], bool | None]
) -> Estimate | Undefined:
    """Return the agreement on all dialogues: counted if all were labelled, else estimated from the sample."""
    if paired.design.census or isinstance(plain, Undefined):
        return plain
    weighed = share_in_all(paired, hit)
    return weighed if isinstance(weighed, Undefined) else replace(weighed, chance=plain.chance)


def _same(pair: LabelPair) -> bool:
    return pair.judge.value == pair.person.value


def _near(pair: LabelPair, scale: Sequence[str]) -> bool:
    if pair.judge.value is None or pair.person.value is None:
        return False
    return abs(scale.index(pair.judge.value) - scale.index(pair.person.value)) <= 1


def accuracy_figures(paired: PairedLabels, part: DialogueSubset) -> Iterator[Measurement]:
    """Yield the accuracy of the judge's verdicts by one defect rule, if labels allow it."""
    pairs = paired.open
    labels = [paired.verdict(pair.person) if paired.design.counts(pair.position) else None for pair in pairs.pairs]
    if all(label is None for label in labels):
        return
    strata = None if paired.design.census else [paired.design.strata.get(pair.position, "") for pair in pairs.pairs]
    verdicts = [paired.verdict(pair.judge) for pair in pairs.pairs]
    accuracy = judge_accuracy(verdicts, labels, drawn_from=strata, clusters=pairs.clusters)
    figures = {
        Measure.JUDGE_SENSITIVITY: accuracy.sensitivity,
        Measure.JUDGE_SPECIFICITY: accuracy.specificity,
        Measure.JUDGE_PRECISION: accuracy.precision,
        Measure.JUDGE_CLEAN_RATE: accuracy.clean_rate,
        Measure.JUDGE_BIAS: accuracy.bias,
        Measure.JUDGE_RATE: accuracy.judge_rate,
        Measure.CORRECTED_RATE: share_in_all(paired, lambda pair: paired.verdict(pair.person)),
    }
    for measure, result in figures.items():
        yield figure_of(paired, part, measure, result)
    yield from _under_annotation(paired, part)


def _under_annotation(paired: PairedLabels, part: DialogueSubset) -> Iterator[Measurement]:
    """Yield in how many of people's defects the judge refused to answer."""
    defects = [pair for pair in paired.labelled.pairs if paired.verdict(pair.person)]
    refused = sum(pair.judge.outcome is Outcome.REFUSED for pair in defects)
    if refused:
        yield figure_of(paired, part, Measure.REFUSED_DEFECTS, _share(refused, len(defects)))


def _share(count: int, n: int) -> Estimate | Undefined:
    return defect_rate(count, n) if n else Undefined(reason=NO_SUCH_DIALOGUE, unit=DIALOGUES)


def failure_figures(pairs: PairedLabels | None) -> Iterator[Measurement]:
    """Yield how often the judge gave no readable answer, and how often it refused."""
    if pairs is None or not pairs.pairs:
        return
    subject = EstimateSubject(
        application=ALL_APPLICATIONS,
        guideline=pairs.guideline.name,
        question=pairs.question.name,
        annotators=(pairs.judge.name,),
    )
    part = DialogueSubset(subject=subject, positions=tuple(pair.position for pair in pairs.pairs))
    shares = ((Measure.UNPARSEABLE_SHARE, Outcome.UNPARSEABLE), (Measure.REFUSED_SHARE, Outcome.REFUSED))
    for measure, outcome in shares:
        count = sum(pair.judge.outcome is outcome for pair in pairs.pairs)
        yield replace(figure_of(pairs, part, measure, _share(count, len(pairs.pairs))), subject=subject)


MOST_PAIRED: Final = 5
"""Maximum number of people for pairwise comparisons; count."""


def ceiling_figures(
    evidence: Evidence, guideline: Guideline, people: Sequence[str], judge: str
) -> Iterator[Measurement]:
    """Yield the agreement of people on the main question: pairs of a few, or many together with the judge."""
    if len(people) <= MOST_PAIRED:
        for pair in combinations(people, 2):
            yield from _pair_ceiling(evidence, guideline, *pair)
    else:
        yield from _group_ceiling(
            [paired for name in people if (paired := _paired_labels(evidence, guideline, judge, name))]
        )


def _pair_ceiling(evidence: Evidence, guideline: Guideline, first: str, second: str) -> Iterator[Measurement]:
    paired = _paired_labels(evidence, guideline, second, first)
    if paired is None:
        return
    for part in parts_of(evidence, paired):
        for figure in agreement_figures(replace(paired.among(part.positions), design=Design(census=True)), part):
            yield replace(figure, subject=replace(figure.subject, is_human_ceiling=True))


def _paired_labels(evidence: Evidence, guideline: Guideline, judge: str, person: str) -> PairedLabels | None:
    paired = pair_labels(evidence, guideline, guideline.question, (judge, person))
    return paired if paired is not None and paired.labelled.pairs else None


def _group_ceiling(paired: Sequence[PairedLabels]) -> Iterator[Measurement]:
    """Yield the agreement of a judge with all people, and of people with each other, on the same dialogues."""
    if not paired:
        return
    first = paired[0]
    pairs = [{pair.position: pair for pair in own.judged.pairs} for own in paired]
    by_position: dict[int, LabelPair] = {position: pair for by_place in pairs for position, pair in by_place.items()}
    positions = sorted(by_position)
    clusters = [by_position[position].setting.cluster or f"session {position}" for position in positions]
    ceiling = human_ceiling(
        [by_position[position].judge.value for position in positions],
        [[pair.person.value if (pair := of.get(position)) else None for position in positions] for of in pairs],
        clusters=shared_clusters(clusters),
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
                n_people=len(paired),
                is_human_ceiling=True,
            ),
            result=result,
            outcomes=outcomes_of(
                _ceiling_outcome([of[position] for of in pairs if position in of]) for position in positions
            ),
            versions=versions_of(first.guideline, [first.judge, *(own.authority for own in paired)]),
        )


def _ceiling_outcome(pairs: Sequence[LabelPair]) -> Outcome:
    """Return the outcome of one dialogue: the judge's failure to answer, or that fewer than two people labelled it."""
    judge = pairs[0].judge
    if judge.value is None:
        return judge.outcome
    labelled = sum(pair.person.value is not None for pair in pairs)
    return Outcome.ANSWERED if labelled >= 2 else Outcome.MISSING


PairsByPosition = Mapping[int, LabelPair]
"""The labels of a judge and one person, by position."""


def group_figures(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[Measurement]:
    """Yield a judge's chance-corrected agreement with the people of each group, on the main question.

    A judge that was tuned by a majority may follow one group and not another.
    It uses the dialogues that both labelled; unreadable labels of the judge are
    excluded and counted (ADR-0062). Groups of fewer than three people are omitted.

    AnswerSource:
        See `cross_agreement`.
    """
    question = guideline.question
    if (
        not evidence.annotator_attributes
        or question.level is not QuestionLevel.DIALOGUE
        or not question.scale.categories
    ):
        return
    references = {
        person.name: paired
        for person in evidence.study.annotators
        if person.kind is AnnotatorKind.PERSON and person.guideline == guideline.name
        for paired in [pair_labels(evidence, guideline, question, (judge, person.name))]
        if paired is not None and paired.labelled.pairs
    }
    for attribute, group_of in sorted(evidence.annotator_attributes.items()):
        for group in sorted(set(group_of.values())):
            members = [paired for name, paired in references.items() if group_of.get(name) == group]
            if len(members) >= FEWEST:
                yield _figure(members, GroupValue(name=attribute, value=group))


def _figure(members: Sequence[PairedLabels], group: GroupValue) -> Measurement:
    first = members[0]
    pairs: list[PairsByPosition] = [{pair.position: pair for pair in paired.judged.pairs} for paired in members]
    by_position = {position: pair for by_place in pairs for position, pair in by_place.items()}
    positions = sorted(by_position)
    clusters = [by_position[position].setting.cluster or f"session {position}" for position in positions]
    people = [[pair.person.value if (pair := of.get(position)) else None for position in positions] for of in pairs]
    result = cross_agreement(
        [[by_position[position].judge.value for position in positions]],
        people,
        categories=first.question.scale.categories,
        clusters=shared_clusters(clusters),
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
        outcomes=outcomes_of(
            _group_outcome(by_position[position], [of[position] for of in pairs if position in of])
            for position in positions
        ),
        versions=versions_of(first.guideline, [first.judge, *(paired.authority for paired in members)]),
    )


def _group_outcome(judged: LabelPair, by_people: Sequence[LabelPair]) -> Outcome:
    """Return the outcome of one dialogue: the judge's failure to answer, else that of all people."""
    if judged.judge.value is None:
        return judged.judge.outcome
    labelled = any(pair.person.value is not None for pair in by_people)
    return Outcome.ANSWERED if labelled else by_people[0].person.outcome
