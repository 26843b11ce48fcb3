"""Differences within one run: applications pair by pair, and defect rates between groups of dialogues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, pools_of, positions_of
from theodolite.domain.application import Application
from theodolite.domain.comparison import (
    ComparedSide,
    Comparison,
    GroupGap,
    GroupRate,
    RuleVerdict,
    Ruling,
    TypologyRate,
)
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study_parts import Typology
from theodolite.domain.undefined_reasons import SHARED_VERDICTS, TOO_FEW_GROUPS
from theodolite.measurement.interval import Ends
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.sample_size import compare_sides
from theodolite.measurement.study.order_metrics import conditions
from theodolite.measurement.study.rates import NOT_STATED, defects_of, pooled_rate_of, rate_of
from theodolite.measurement.study.risks import FEWEST as FEWEST_PEOPLE
from theodolite.measurement.trees.robustness import gap_interval

FEWEST: Final = 10
"""Minimum number of labelled dialogues for the rate of a group; count."""

GAP_METHOD: Final = "simultaneous differences of all pairs of groups (MOVER, Sidak)"


def comparisons_of(evidence: Evidence, measurements: Sequence[Measurement]) -> tuple[Comparison, ...]:
    """Return each application paired with the one that it is compared with, rate by rate.

    A variant is compared with the application that it is a variant of.
    In studies without variants, each application is compared with the first one of the study.
    Rates of single people of a pool are omitted.

    Args:
        evidence: All records of one run.
        measurements: Its defect rates; others are ignored.

    Source:
        `compare_sides`.
    """
    pairs = _pairs(evidence.study.applications)
    if not pairs:
        return ()
    pools = pools_of(evidence.study)
    rates = [
        measurement
        for measurement in measurements
        if _is_whole(measurement) and measurement.subject.annotator not in pools.get(measurement.subject.guideline, ())
    ]
    sides = {application.name: _side(evidence, application, rates) for pair in pairs for application in pair}
    return tuple(compare_sides(sides[first.name], sides[second.name]) for first, second in pairs)


def _is_whole(measurement: Measurement) -> bool:
    return measurement.measure is Measure.DEFECT_RATE and not measurement.subject.is_part


def _pairs(applications: Sequence[Application]) -> list[tuple[Application, Application]]:
    by_name = {application.name: application for application in applications}
    variants = [
        (by_name[application.variant_of], application)
        for application in applications
        if application.variant_of in by_name
    ]
    return variants or [(applications[0], other) for other in applications[1:]]


def _side(evidence: Evidence, application: Application, rates: Sequence[Measurement]) -> ComparedSide:
    annotators = evidence.study.annotators
    return ComparedSide(
        name=application.name,
        application=application.name,
        study=evidence.study.name,
        run=evidence.run.number,
        plan=evidence.run.plan_version,
        mitigations=tuple(mitigation.name for mitigation in application.mitigations),
        rulings=tuple(_ruling(evidence, rate) for rate in rates if rate.application == application.name),
        people=tuple(sorted(annotator.name for annotator in annotators if annotator.kind is AnnotatorKind.PERSON)),
        titles={annotator.name: annotator.title for annotator in annotators if annotator.title},
    )


def _ruling(evidence: Evidence, rate: Measurement) -> Ruling:
    sessions, settings = evidence.answers.sessions, evidence.answers.settings
    verdicts: dict[str, RuleVerdict] = {}
    for label, is_defect in _verdicts(rate):
        position = sessions.find(label)
        if position is not None:
            verdict = RuleVerdict(dialogue=label, is_defect=is_defect, cluster=settings[position].cluster)
            verdicts[sessions.pair_key(position)] = verdict
    return Ruling(subject=rate.subject, instruments=rate.versions, verdicts=verdicts)


def _verdicts(rate: Measurement) -> Iterator[tuple[str, bool | None]]:
    yield from ((label, True) for label in rate.dialogues)
    yield from ((label, False) for label in rate.non_defects)
    yield from ((label, None) for label in rate.unlabelled)


def group_gaps(evidence: Evidence, measurements: Sequence[Measurement]) -> Iterator[GroupGap]:
    """Yield the gap between groups for each leading defect rate and group of the study.

    The gap is the highest minus the lowest rate, over the groups with at least ten labelled dialogues.
    Its interval holds for all pairs of groups at once, because the data choose the pair (ADR 0093).
    It does not hold for all gaps of a report together.

    Args:
        evidence: All records of one run.
        measurements: Its defect rates; others are ignored.

    Source:
        Differences from two intervals: Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095.
        Simultaneous levels: Sidak (1967), Journal of the American Statistical Association 62:626-633.
    """
    pools = pools_of(evidence.study)
    whole = [measurement for measurement in measurements if _is_whole(measurement)]
    final = {_rule_of(one) for one in whole if one.subject.annotator == REFERENCE}
    for rate in whole:
        name = rate.subject.annotator
        is_single = name in pools.get(rate.subject.guideline, ())
        if name == REFERENCE or not (is_single or _rule_of(rate) in final):
            yield from _gaps(evidence, rate)


def _rule_of(rate: Measurement) -> tuple[str, str, str]:
    return rate.application, rate.subject.guideline, rate.subject.rule


def _gaps(evidence: Evidence, rate: Measurement) -> Iterator[GroupGap]:
    limited = {group.name for group in rate.subject.among}
    for name in evidence.study.groups:
        parts = _parts(evidence, rate, name) if name not in limited else {}
        if len(parts) > 1:
            yield _gap(rate, name, parts)


def _parts(evidence: Evidence, rate: Measurement, group: str) -> dict[str, list[tuple[str, bool]]]:
    """Return the cluster and the verdict of each labelled dialogue, by value of a group."""
    sessions, settings = evidence.answers.sessions, evidence.answers.settings
    parts: dict[str, dict[int, tuple[str, bool]]] = {}
    for label, is_defect in _verdicts(rate):
        position = sessions.find(label)
        if position is None or is_defect is None:
            continue
        value = settings[position].groups.get(group, NOT_STATED)
        if value != NOT_STATED:
            parts.setdefault(value, {})[position] = settings[position].cluster or label, is_defect
    first = {value: min(part) for value, part in parts.items()}
    return {value: list(parts[value].values()) for value in sorted(parts, key=lambda value: first[value])}


def _gap(rate: Measurement, group: str, parts: Mapping[str, Sequence[tuple[str, bool]]]) -> GroupGap:
    n = sum(len(part) for part in parts.values())
    if rate.subject.annotator == PEOPLE:
        rates = tuple(GroupRate(value=value, n=len(part)) for value, part in parts.items())
        return _without_gap(rate, group, rates, Undefined(reason=SHARED_VERDICTS, n=n, unit=DIALOGUES))
    enough = [value for value, part in parts.items() if len(part) >= FEWEST]
    rates = tuple(
        GroupRate(value=value, n=len(part), rate=_estimate(part, 0.95) if value in enough else None)
        for value, part in parts.items()
    )
    if len(enough) < 2:
        reason = TOO_FEW_GROUPS.format(fewest=FEWEST)
        return _without_gap(rate, group, rates, Undefined(reason=reason, n=n, unit=DIALOGUES))
    known = {group_rate.value: group_rate.rate.value for group_rate in rates if group_rate.rate is not None}
    level = 0.95 ** (1 / (len(enough) * (len(enough) - 1) // 2))
    low, high = gap_interval(list(known.values()), [_ends(parts[value], level) for value in known])
    return GroupGap(
        subject=rate.subject,
        group=group,
        rates=rates,
        lowest=min(known, key=lambda value: known[value]),
        highest=max(known, key=lambda value: known[value]),
        gap=Estimate(
            value=max(known.values()) - min(known.values()),
            low=low,
            high=min(high, 1.0),
            confidence=0.95,
            n=sum(len(parts[value]) for value in enough),
            unit=DIALOGUES,
            method=GAP_METHOD,
        ),
    )


def typology_rates(evidence: Evidence) -> Iterator[TypologyRate]:
    """Yield for each rule the defect rate of each type of user with each type of application.

    A tester, persona or script that met several applications is one cluster of their dialogues.
    Intervals generalise to other users of a type, but describe only the tested applications.
    Rates over fewer than five people are withheld.

    Source:
        `defect_rate`, `pooled_defect_rate`; typologies of both sides: NIST AI 700-1 (2024), section 4.2.2, after
        Doddington et al. (1998), Sheep, goats, lambs and wolves, ICSLP 98:1351-1354.
    """
    typology = evidence.study.typology
    if typology is None:
        return
    for guideline in evidence.study.guidelines:
        for rule in guideline.defect_rules:
            yield from _typology_rates(evidence, typology, guideline, rule)


def _typology_rates(
    evidence: Evidence, typology: Typology, guideline: Guideline, rule: DefectRule
) -> Iterator[TypologyRate]:
    study, table = evidence.study, evidence.answers
    question = guideline.instrument.question(rule.question)
    own = {
        application.name: [
            position
            for position in positions_of(study, table, application, guideline)
            if rule.applies_to(table.settings[position].groups)
        ]
        for application in study.applications
    }
    by = {
        application.name: annotators_of(study, guideline, application, question.name).reference_annotators
        for application in study.applications
    }
    sources = {source.name: source for result in by.values() for source in result}
    users = [typology.user_type(table.settings[place].groups) for place in range(len(table))]
    types = (*dict.fromkeys(user for user in users if user), *([""] if "" in users else []))
    for at in conditions(table.settings[place] for places in own.values() for place in places):
        for source, user, (kind, names) in product(sources.values(), types, typology.applications.items()):
            tested = tuple(name for name in names if source.name in {answer_source.name for answer_source in by[name]})
            positions = [
                place
                for name in tested
                for place in own[name]
                if users[place] == user and at.holds(table.settings[place])
            ]
            if positions:
                labels = QuestionLabels(
                    table=table, guideline=guideline, question=question, positions=positions, rule=rule
                ).assigned_to(source)
                subject = replace(
                    at.limited(EstimateSubject(application=ALL_APPLICATIONS)),
                    guideline=guideline.name,
                    rule=rule.name,
                    condition=rule.condition,
                    annotators=(source.name,),
                    violation=rule.violation,
                )
                yield _typology_rate(subject, labels, source, user or NOT_STATED, (kind, tested))


def _typology_rate(
    subject: EstimateSubject,
    labels: QuestionLabels,
    source: AnswerSource,
    user: str,
    applications: tuple[str, tuple[str, ...]],
) -> TypologyRate:
    rule = labels.rule
    if rule is None:
        message = "a rate needs a rule"
        raise InputError(message)
    defects = defects_of(labels, rule, labels.labels(source))
    settings = [labels.setting(position) for position in labels.positions]
    read = zip(labels.positions, settings, labels.labels(source), strict=True)
    met = {setting.cluster or str(position) for position, setting, label in read if label.value is not None}
    is_of_people = any(setting.held_by is TesterType.PERSON for setting in settings)
    is_shown = not is_of_people or not met or len(met) >= FEWEST_PEOPLE
    rate = pooled_rate_of(labels, rule) if source.is_pool else rate_of(defects)
    return TypologyRate(
        subject=subject,
        user_type=user,
        application_type=applications[0],
        applications=applications[1],
        n_users=len(met),
        outcomes=defects.outcomes,
        rate=rate if is_shown else None,
    )


def _without_gap(rate: Measurement, group: str, rates: tuple[GroupRate, ...], reason: Undefined) -> GroupGap:
    return GroupGap(subject=rate.subject, group=group, rates=rates, lowest="", highest="", gap=reason)


def _estimate(part: Sequence[tuple[str, bool]], confidence: float) -> Estimate | None:
    labelled = Counter(cluster for cluster, _ in part)
    defects = Counter(cluster for cluster, is_defect in part if is_defect)
    clusters = [(defects[cluster], n) for cluster, n in labelled.items()] if len(labelled) < len(part) else None
    result = defect_rate(defects.total(), len(part), clusters=clusters, confidence=confidence)
    return result if isinstance(result, Estimate) else None


def _ends(part: Sequence[tuple[str, bool]], confidence: float) -> Ends:
    estimate = _estimate(part, confidence)
    if estimate is None or estimate.low is None or estimate.high is None:
        return 0.0, 1.0
    return estimate.low, estimate.high
