"""Agreement of the annotators of one application, and of groups of annotators, on one question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, TypeAlias

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, pool_labels_of, versions_of
from theodolite.domain.answers import WORST_FIRST, DialogueLabel, outcomes_of
from theodolite.domain.estimate import Confusion, Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, Measure, ScoreStatistic, Weighting
from theodolite.domain.findings.agreement import AnnotatorGroups, GroupAgreement, GroupDefects, RaterCheck, RaterChecks
from theodolite.domain.instrument import Scale, decimal_of
from theodolite.domain.undefined_reasons import NO_READABLE_PAIR
from theodolite.measurement.agreement import (
    ClassificationReport,
    classification_report,
    exact_agreement,
    majority_labels,
    relaxed_agreement,
    unanimity,
)
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.comparison import adjust_p_values
from theodolite.measurement.kappa import cohen_kappa, fleiss_kappa
from theodolite.measurement.labels import confusion_matrix, shared_clusters
from theodolite.measurement.proportion import DIALOGUES, TWO_WAY, pooled_defect_rate
from theodolite.measurement.rater_models import dawid_skene, defect_rates_by_group, group_agreement, mace
from theodolite.measurement.scores import score_agreement

UNREADABLE = Outcome.UNPARSEABLE.value
"""The category of labels that cannot be read, in confusion matrices."""


UNWEIGHTED = Weighting.IDENTITY
"""Suffix of coefficients that weight all disagreements equally."""

MAJORITY_OF_PEOPLE, MAJORITY_OF_JUDGES = "majority of people", "majority of judges"
"""Name of the majority label in lists of annotators."""

FEWEST_OF_A_MAJORITY = 3
"""Minimum number of annotators for a majority; count."""

Clusters: TypeAlias = list[str] | None
"""The cluster of each planned session; None if no two share one."""

MOST_IN_PAIRS = 10
"""Largest number of annotators of one kind with pairwise comparisons; more are compared as a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePair:
    """Two sources side by side on the same planned sessions.

    Attributes:
        first: The reference source.
        second: The compared source, which may be a majority.
        readings: Each source's label of every session.
        clusters: The cluster of each session; None if no two share one.
        sources: All annotators with labels in it.
    """

    first: AnswerSource
    second: AnswerSource
    readings: tuple[tuple[DialogueLabel, DialogueLabel], ...]
    clusters: Clusters
    sources: tuple[AnswerSource, ...]

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of each session for this pair."""
        for readings in self.readings:
            yield _common_outcome(readings)

    def labels(self) -> tuple[list[str | None], list[str | None]]:
        """Return both sources' labels; None if no label is readable."""
        return [first.value for first, _ in self.readings], [second.value for _, second in self.readings]


def agreements(application: str, labels: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield the agreement of the annotators of one application, on one question.

    Every two people are compared (up to ten people), as well as all people together;
    the same applies to judges, including the members of each panel. Every judge is compared
    with the reference or, if there is none, with each person; people who label by
    hand or were imported are also compared with the reference. With a
    reference there are also precision, recall and F1 of each label, and the majority
    of three or more people or judges.

    All coefficients use the same dialogues, those with readable labels of both
    (ADR-0062). Unreadable labels are counted in the outcomes, and `bounds` of
    plain agreement state their possible effect.
    """
    people = [source for source in by.annotators if source.is_person]
    judges = [source for source in by.annotators if not source.is_person]
    yield from _among(application, labels, people, [people])
    for judge in [*judges, *_people_with_standard(by)]:
        for authority in [by.reference] if by.reference else people:
            # Only dialogues that are assigned to the person can be missing.
            shared = labels.assigned_to(authority)
            if labels.positions and not shared.positions:
                continue
            pair = pair_of(shared, authority, judge)
            yield from _pair_measurements(application, shared, pair)
            if authority is by.reference:
                yield from _class_measurements(application, labels, pair)
    # For two judges without a panel, their pair suffices.
    together = [judges] if len(judges) > 2 else []
    yield from _among(application, labels, judges, [*together, *_panels(judges)])
    for members, name in ((people, MAJORITY_OF_PEOPLE), (judges, MAJORITY_OF_JUDGES)):
        if by.reference is not None and len(members) >= FEWEST_OF_A_MAJORITY:
            yield from _majority_measurements(application, labels, by.reference, members, name)


def _people_with_standard(by: AnswerSources) -> list[AnswerSource]:
    """Return the people with labels in another file than the reference."""
    return [source for source in by.annotators if source.is_person and source.by_hand] if by.reference else []


def _among(
    application: str,
    labels: QuestionLabels,
    annotators: Sequence[AnswerSource],
    groups: Sequence[Sequence[AnswerSource]],
) -> Iterator[Measurement]:
    """Yield the agreement of annotators of one kind, two by two and group by group."""
    for first, second in pairs_of(annotators):
        # Only dialogues that both should label can be missing.
        shared = labels.assigned_to(first).assigned_to(second)
        if shared.positions or not labels.positions:
            yield from _pair_measurements(application, shared, pair_of(shared, first, second))
    for members in {tuple(group): None for group in groups if len(group) > 1}:
        yield from _panel_measurements(application, labels, members)


def _panels(judges: Sequence[AnswerSource]) -> list[list[AnswerSource]]:
    """Return the judges of each panel; a single judge is not a panel."""
    names = dict.fromkeys(judge.panel for judge in judges if judge.panel)
    panels = [[judge for judge in judges if judge.panel == name] for name in names]
    return [members for members in panels if len(members) > 1]


def confusions(application: str, labels: QuestionLabels, by: AnswerSources) -> Iterator[Confusion]:
    """Yield the confusion matrix of every two compared annotators."""
    people = [source for source in by.annotators if source.is_person]
    judges = [source for source in by.annotators if not source.is_person]
    standards = ([by.reference] if by.reference else []) + people
    compared = [*pairs_of(people), *((standard, judge) for judge in judges for standard in standards)]
    compared += [(by.reference, person) for person in _people_with_standard(by) if by.reference]
    compared += pairs_of(judges)
    for first, second in compared:
        shared = labels.assigned_to(first).assigned_to(second)
        if labels.positions and not shared.positions:
            continue
        pair = pair_of(shared, first, second)
        a, b = (
            [_label(first_label) for first_label, _ in pair.readings],
            [_label(second_label) for _, second_label in pair.readings],
        )
        scale = labels.question.scale.categories
        seen = UNREADABLE in {*_met(a, b), *_met(b, a)}
        yield Confusion(
            application=application,
            guideline=labels.guideline.name,
            question=labels.question.name,
            first=first.name,
            second=second.name,
            matrix=confusion_matrix(a, b, categories=(*scale, UNREADABLE) if seen else scale),
        )


def pairs_of(annotators: Sequence[AnswerSource]) -> list[tuple[AnswerSource, AnswerSource]]:
    """Return every two annotators; empty if there are too many for a reader to view pair by pair."""
    return list(combinations(annotators, 2)) if len(annotators) <= MOST_IN_PAIRS else []


def _met(labels: Sequence[str | None], others: Sequence[str | None]) -> Iterator[str]:
    return (label for label, other in zip(labels, others, strict=True) if label is not None and other is not None)


def pair_of(labels: QuestionLabels, first: AnswerSource, second: AnswerSource) -> SourcePair:
    """Return the labels of two sources for the same planned sessions."""
    readings = zip(labels.labels(first), labels.labels(second), strict=True)
    sources = (first, second)
    return SourcePair(
        first=first, second=second, readings=tuple(readings), clusters=clusters_of(labels), sources=sources
    )


def clusters_of(labels: QuestionLabels) -> Clusters:
    """Return the cluster of each session; None if no two sessions share one."""
    # A dialogue without a cluster is independent of all others.
    names = [labels.setting(position).cluster or f"alone {position}" for position in labels.positions]
    return shared_clusters(names)


def _pair_measurements(application: str, labels: QuestionLabels, pair: SourcePair) -> Iterator[Measurement]:
    outcomes = outcomes_of(pair.outcomes())
    for measure, weighting, result in _pair_results(labels.question.scale, pair):
        yield Measurement(
            measure=measure,
            weighting=weighting,
            subject=subject_of(application, labels, (pair.first, pair.second)),
            result=explained(result, outcomes),
            outcomes=outcomes,
            versions=versions_of(labels.guideline, pair.sources),
            bounds=bounds_of(result, outcomes),
        )


def _pair_results(scale: Scale, pair: SourcePair) -> Iterator[tuple[Measure, Weighting | None, Estimate | Undefined]]:
    a, b = pair.labels()
    clusters = pair.clusters
    yield Measure.EXACT_AGREEMENT, None, exact_agreement(a, b, clusters=clusters)
    if is_ordered(scale):
        near = relaxed_agreement(a, b, categories=scale.categories, clusters=clusters)
        yield Measure.RELAXED_AGREEMENT, None, near
    kappa = cohen_kappa(a, b, categories=scale.categories, clusters=clusters)
    yield Measure.COHEN_KAPPA, UNWEIGHTED, kappa


def explained(result: Estimate | Undefined, outcomes: Outcomes) -> Estimate | Undefined:
    """Return a result; if no pair of labels is readable, its reason counts the labels by outcome."""
    counts = {"unparseable": outcomes.unparseable, "refused": outcomes.refused}
    if isinstance(result, Estimate) or result.n or outcomes.used or not any(counts.values()):
        return result
    became = " and ".join(f"{count} {name}" for name, count in counts.items() if count)
    return replace(result, reason=f"{NO_READABLE_PAIR} Of {outcomes.planned} dialogues {became}.")


def bounds_of(result: Estimate | Undefined, outcomes: Outcomes) -> tuple[float, float] | None:
    """Return plain agreement with unreadable labels as disagreement, and as agreement; None if all are readable."""
    unreadable = outcomes.unparseable + outcomes.refused
    if isinstance(result, Undefined) or result.count is None or not unreadable:
        return None
    whole = result.n + unreadable
    return result.count / whole, (result.count + unreadable) / whole


def _class_measurements(application: str, labels: QuestionLabels, pair: SourcePair) -> Iterator[Measurement]:
    """Yield how well an annotator recognises each label of the reference."""
    a, b = pair.labels()
    report = classification_report(a, b, categories=labels.question.scale.categories, clusters=pair.clusters)
    outcomes = outcomes_of(pair.outcomes())
    subject = subject_of(application, labels, (pair.first, pair.second))
    for measure, label, result in class_figures(report):
        yield Measurement(
            measure=measure,
            subject=replace(subject, label=label),
            result=explained(result, outcomes),
            outcomes=outcomes,
            versions=versions_of(labels.guideline, pair.sources),
        )


def class_figures(report: ClassificationReport) -> Iterator[tuple[Measure, str, Estimate | Undefined]]:
    """Yield measure, label and number of each entry of a classification report; no label for entries over all."""
    yield Measure.MACRO_F1, "", report.macro_f1
    for scores in report.classes:
        yield Measure.CLASS_PRECISION, scores.label, scores.precision
        yield Measure.CLASS_RECALL, scores.label, scores.recall
        yield Measure.CLASS_F1, scores.label, scores.f1


def _majority_measurements(
    application: str,
    labels: QuestionLabels,
    reference: AnswerSource,
    members: Sequence[AnswerSource],
    name: str,
) -> Iterator[Measurement]:
    """Yield the agreement of the majority label with the reference; dialogues with tied labels are missing."""
    by_member = [labels.labels(member) for member in members]
    most = majority_labels([[reading.value for reading in readings] for readings in by_member])
    readings = tuple(
        _majority_reading(label, unit) for label, unit in zip(most, zip(*by_member, strict=True), strict=True)
    )
    pair = SourcePair(
        first=reference,
        second=AnswerSource(name=name, kind=None, version=""),
        readings=tuple(zip(labels.labels(reference), readings, strict=True)),
        clusters=clusters_of(labels),
        sources=(reference, *members),
    )
    yield from _pair_measurements(application, labels, pair)
    yield from _class_measurements(application, labels, pair)


def _majority_reading(label: str | None, unit: Sequence[DialogueLabel]) -> DialogueLabel:
    if label is not None:
        return DialogueLabel(outcome=Outcome.ANSWERED, value=label)
    outcome = _panel_outcome(unit)
    return DialogueLabel(outcome=Outcome.MISSING if outcome is Outcome.ANSWERED else outcome)


def _panel_measurements(
    application: str, question_labels: QuestionLabels, members: Sequence[AnswerSource]
) -> Iterator[Measurement]:
    by_member = [question_labels.labels(member) for member in members]
    outcomes = outcomes_of(_panel_outcome(readings) for readings in zip(*by_member, strict=True))
    labels = [[reading.value for reading in readings] for readings in by_member]
    for measure, weighting, result in _panel_results(
        question_labels.question.scale, labels, clusters_of(question_labels)
    ):
        yield Measurement(
            measure=measure,
            weighting=weighting,
            subject=subject_of(application, question_labels, members),
            result=explained(result, outcomes),
            outcomes=outcomes,
            versions=versions_of(question_labels.guideline, members),
        )


def _panel_results(
    scale: Scale, labels: Sequence[Sequence[str | None]], clusters: Clusters
) -> Iterator[tuple[Measure, Weighting | None, Estimate | Undefined]]:
    codes = {point: position for position, point in enumerate(scale.categories)}
    coded = [[None if label is None else codes[label] for label in row] for row in labels]
    units = [[unit.count(position) for position in codes.values()] for unit in zip(*coded, strict=True)]
    shared = [position for position, unit in enumerate(units) if sum(unit) >= 2]
    of_shared = [clusters[position] for position in shared] if clusters else None
    yield Measure.FLEISS_KAPPA, UNWEIGHTED, fleiss_kappa([units[position] for position in shared], clusters=of_shared)
    if len(labels) > 2:  # for two annotators it equals exact agreement
        yield Measure.UNANIMITY, None, unanimity(labels, clusters=clusters)
    yield _alpha(coded, "nominal", clusters)
    if is_ordered(scale):
        yield _alpha(coded, "ordinal", clusters)
        if scale.is_numeric:
            yield _alpha(coded, "interval", clusters)


def is_ordered(scale: Scale) -> bool:
    """Return whether the labels of a scale have an order."""
    return scale.ordered or scale.is_numeric


def _alpha(
    ratings: Sequence[Sequence[int | None]], scale: AlphaScale, clusters: Clusters
) -> tuple[Measure, Weighting | None, Estimate | Undefined]:
    table = [[float("nan") if position is None else float(position) for position in row] for row in ratings]
    alpha = krippendorff_alpha(table, scale=scale, clusters=clusters)
    return Measure.KRIPPENDORFF_ALPHA, Weighting(scale), alpha


def subject_of(application: str, labels: QuestionLabels, annotators: Sequence[AnswerSource]) -> EstimateSubject:
    """Return the subject of an agreement on one question."""
    return EstimateSubject(
        application=application,
        guideline=labels.guideline.name,
        question=labels.question.name,
        annotators=tuple(source.name for source in annotators),
    )


def _label(reading: DialogueLabel) -> str | None:
    return UNREADABLE if reading.outcome is Outcome.UNPARSEABLE else reading.value


def _common_outcome(readings: Sequence[DialogueLabel]) -> Outcome:
    outcomes = {reading.outcome for reading in readings}
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.ANSWERED)


def _panel_outcome(readings: Sequence[DialogueLabel]) -> Outcome:
    """Return `ANSWERED` if two annotators gave a label, else the worst outcome of the others."""
    answered = sum(reading.outcome is Outcome.ANSWERED for reading in readings)
    return Outcome.ANSWERED if answered >= 2 else _common_outcome(readings)


def pool_agreements(application: str, question_labels: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield the agreement of each judge with the guideline's pool of people; nothing without a pool.

    Each dialogue counts once, with the share of people's labels that equal the
    judge's label. Dialogues and people are clusters of the variance (ADR-0065).

    Source:
        `pooled_defect_rate`, with equal labels in place of defects.
    """
    pool = by.pool
    if pool is None or by.reference is not None:
        return
    labels = list(
        pool_labels_of(
            question_labels.table,
            question_labels.guideline,
            question_labels.question,
            positions=question_labels.positions,
        )
    )
    for judge in (source for source in by.annotators if not source.is_person):
        own = dict(zip(question_labels.positions, question_labels.labels(judge), strict=True))
        compared = [
            (pool_label, own[pool_label.position].value)
            for pool_label in labels
            if own[pool_label.position].value is not None
        ]
        clusters = clusters_of(question_labels)
        cluster_at = dict(zip(question_labels.positions, clusters, strict=True)) if clusters else None
        result = pooled_defect_rate(
            [pool_label.position for pool_label, _ in compared],
            [pool_label.annotator for pool_label, _ in compared],
            [pool_label.value == value for pool_label, value in compared],
            clusters=[cluster_at[pool_label.position] for pool_label, _ in compared] if cluster_at else None,
        )
        if isinstance(result, Undefined):
            result = Undefined(reason=NO_READABLE_PAIR, unit=DIALOGUES, method=TWO_WAY)
        outcomes = outcomes_of(
            _outcome(judged, people) for judged, people in zip(own.values(), question_labels.labels(pool), strict=True)
        )
        yield Measurement(
            measure=Measure.EXACT_AGREEMENT,
            subject=subject_of(application, question_labels, (pool, judge)),
            result=explained(result, outcomes),
            outcomes=outcomes,
            versions=_versions(question_labels, by, judge),
        )


def _versions(labels: QuestionLabels, by: AnswerSources, judge: AnswerSource) -> dict[str, str]:
    return versions_of(labels.guideline, [judge, *by.pool_members])


def _outcome(judged: DialogueLabel, people: DialogueLabel) -> Outcome:
    """Return the outcome of one comparison: the judge's failure to answer, else that of people."""
    return people.outcome if judged.value is not None else judged.outcome


def score_agreements(application: str, labels: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield the agreement of scores on one question that is answered by numbers.

    Every judge is compared with the reference or, if there is none, with each
    person; people are compared with each other. There are five numbers for each
    pair: distance, bias (second minus first) and three correlations.
    """
    people = [source for source in by.annotators if source.is_person]
    judges = [source for source in by.annotators if not source.is_person]
    authorities = [by.reference] if by.reference else people
    compared = [*pairs_of(people), *((first, judge) for judge in judges for first in authorities)]
    for first, second in compared:
        yield from _of_pair(application, labels, first, second)


def _of_pair(
    application: str, labels: QuestionLabels, first: AnswerSource, second: AnswerSource
) -> Iterator[Measurement]:
    pair: SourcePair = pair_of(labels, first, second)
    ours = [_number(reading) for _, reading in pair.readings]
    theirs = [_number(reading) for reading, _ in pair.readings]
    ends = labels.question.scale.lowest, labels.question.scale.highest
    scale = None if ends[0] is None or ends[1] is None else (float(ends[0]), float(ends[1]))
    agreement = score_agreement(ours, theirs, clusters=pair.clusters, scale=scale)
    results = {
        ScoreStatistic.RMSE: agreement.rmse,
        ScoreStatistic.BIAS: agreement.bias,
        ScoreStatistic.PEARSON: agreement.pearson,
        ScoreStatistic.SPEARMAN: agreement.spearman,
        ScoreStatistic.KENDALL: agreement.kendall,
    }
    for statistic, result in results.items():
        yield Measurement(
            measure=Measure.SCORE_AGREEMENT,
            statistic=statistic,
            subject=subject_of(application, labels, (first, second)),
            result=result,
            outcomes=outcomes_of(pair.outcomes()),
            versions=versions_of(labels.guideline, [first, second]),
        )


def _number(reading: DialogueLabel) -> float | None:
    return decimal_of(reading.value) if reading.value is not None else None


FEWEST_RATERS: Final = 3
"""Minimum number of annotators for estimating individual errors; count."""

FEWEST_DIALOGUES: Final = 20
"""Minimum number of dialogues with this number of labels; count."""

SMOOTHING: Final = 0.05
"""Labels added to each cell of an annotator's errors."""

MOST_ROUNDS: Final = 200
"""Maximum number of iterations; a diagnosis needs no more digits."""


def rater_checks(application: str, question_labels: QuestionLabels, by: AnswerSources) -> Iterator[RaterChecks]:
    """Yield estimates about the raters of one question and application, by models of raters.

    Models treat disagreement as error, and people may disagree with good reason: a low
    number is a reason to inspect an annotator's labels, not to exclude them.
    Fewer than three annotators, or fewer than twenty dialogues with three labels, give no result.

    Source:
        See `dawid_skene` and `mace`.
    """
    if len(by.annotators) < FEWEST_RATERS:
        return
    labels = [
        (position, source.name, reading.value)
        for source in by.annotators
        for position, reading in zip(question_labels.positions, question_labels.labels(source), strict=True)
        if reading.value is not None
    ]
    labelled = Counter(position for position, _, _ in labels)
    labels = [label for label in labels if labelled[label[0]] > 1]  # a lone label does not show which of them it is
    counts = Counter(name for _, name, _ in labels)
    shared = sum(n >= FEWEST_RATERS for n in labelled.values())
    if len(counts) < FEWEST_RATERS or shared < FEWEST_DIALOGUES:
        return
    scale = question_labels.question.scale.categories
    fit = dawid_skene(labels, categories=scale, smoothing=SMOOTHING, most_rounds=MOST_ROUNDS).competence
    looks = mace(labels, categories=scale, most_rounds=MOST_ROUNDS).competence
    yield RaterChecks(
        application=application,
        guideline=question_labels.guideline.name,
        question=question_labels.question.name,
        dialogues=sum(n > 1 for n in labelled.values()),
        raters=tuple(
            RaterCheck(annotator=name, labels=n, fit=float(fit[name]), looks=float(looks[name]))
            for name, n in counts.items()
        ),
    )


FEWEST: Final = 3
"""Minimum number of people in a named group; count."""


def annotator_groups(
    application: str,
    question_labels: QuestionLabels,
    by: AnswerSources,
    annotator_attributes: Mapping[str, Mapping[str, str]],
    *,
    seed: int = 0,
) -> Iterator[AnnotatorGroups]:
    """Yield the agreement of self-described groups of people on one question, one result per attribute.

    Annotators without a statement are in no group. Labels
    that cannot be read are omitted, as are attributes with the same value for everybody.

    Args:
        application: Name of the application.
        question_labels: Labels of the question on the planned sessions.
        by: The annotators.
        annotator_attributes: Attribute to annotator to group.
        seed: Seed of the test.

    Source:
        See `group_agreement`.
    """
    labels = {
        source.name: [reading.value for reading in question_labels.labels(source)]
        for source in by.annotators
        if source.is_person
    }
    active = {name: own for name, own in labels.items() if any(label is not None for label in own)}
    clusters = clusters_of(question_labels)
    for attribute, group_of in sorted(annotator_attributes.items()):
        known = [name for name in active if name in group_of]
        groups = [group_of[name] for name in known]
        sizes = Counter(groups)
        if len(sizes) < 2:
            continue
        agreements = group_agreement(
            [active[name] for name in known],
            groups,
            categories=question_labels.question.scale.categories,
            fewest=FEWEST,
            seed=seed,
            clusters=clusters,
        )
        yield AnnotatorGroups(
            application=application,
            guideline=question_labels.guideline.name,
            question=question_labels.question.name,
            attribute=attribute,
            n_raters=len(known),
            n_unknown=len(active) - len(known),
            n_in_small=sum(n for n in sizes.values() if n < FEWEST),
            groups=tuple(sorted(_named(agreements), key=lambda agreement: agreement.group)),
            defects=tuple(_defects(question_labels, [active[name] for name in known], groups, seed)),
        )


def _defects(
    question_labels: QuestionLabels, labels: Sequence[Sequence[str | None]], groups: Sequence[str], seed: int
) -> Iterator[GroupDefects]:
    """Yield how often each group of at least three people sees a defect, by the rules of the question."""
    scale = question_labels.question.scale
    for rule in question_labels.guideline.defect_rules:
        if rule.question != question_labels.question.name or not any(n >= FEWEST for n in Counter(groups).values()):
            continue
        flags = [[None if label is None else rule.is_defect(label, scale) for label in own] for own in labels]
        by_group = defect_rates_by_group(flags, groups, fewest=FEWEST, seed=seed)
        sizes = Counter(groups)
        yield GroupDefects(
            rule=rule.name,
            rates=tuple(sorted((name, rate) for name, rate in by_group.rates.items() if sizes[name] >= FEWEST)),
            gap=by_group.gap,
            p_value=by_group.p_value,
        )


def _named(agreements: Sequence[GroupAgreement]) -> list[GroupAgreement]:
    return [agreement for agreement in agreements if agreement.n_raters >= FEWEST]


def adjusted(findings: tuple[AnnotatorGroups, ...]) -> tuple[AnnotatorGroups, ...]:
    """Return findings whose p-values are adjusted for all groups, attributes, questions and applications at once.

    Source:
        See `adjust_p_values` (Benjamini and Hochberg).
    """
    known = _corrected(group.p_value for finding in findings for group in finding.groups)
    gaps = _corrected(rule.p_value for finding in findings for rule in finding.defects)
    return tuple(
        replace(
            finding,
            groups=tuple(
                group if group.p_value is None else replace(group, adjusted_p_value=next(known))
                for group in finding.groups
            ),
            defects=tuple(
                rule if rule.p_value is None else replace(rule, adjusted_p_value=next(gaps)) for rule in finding.defects
            ),
        )
        for finding in findings
    )


def _corrected(p_values: Iterable[float | None]) -> Iterator[float]:
    return iter(adjust_p_values([p for p in p_values if p is not None], method="bh"))
