"""All findings of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from theodolite.domain.answer_rules import AnswerSources, QuestionLabels, annotators_of, positions_of
from theodolite.domain.answers import Positions
from theodolite.domain.application import Application
from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.correction import choice_for
from theodolite.domain.estimate import Confusion, Findings, Measurement
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreeing import AnnotatorGroups, RaterChecks
from theodolite.domain.findings.role_break import RoleBreakCheck, RoleBreakRules
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import QuestionLevel, Scale, ScaleKind
from theodolite.domain.study import Study
from theodolite.measurement.study.agreements import (
    agreements,
    confusions,
    pool_agreements,
    rater_checks,
    score_agreements,
)
from theodolite.measurement.study.annotator_groups import adjusted, annotator_groups
from theodolite.measurement.study.claims import claim_tests, event_finding, proxy_checks
from theodolite.measurement.study.codings import coding_findings
from theodolite.measurement.study.corrected_rates import corrected_means, corrected_rates, transported_rate
from theodolite.measurement.study.judge_diagnostics import judge_diagnostics
from theodolite.measurement.study.order_metrics import conditions, order_findings, order_metrics
from theodolite.measurement.study.paired_labels import Design, pair_question_labels, sample_design
from theodolite.measurement.study.rates import rates, strategy_tallies, task_tallies
from theodolite.measurement.study.realism import realisms
from theodolite.measurement.study.responses import response_findings
from theodolite.measurement.study.risks import risk_findings
from theodolite.measurement.study.role_breaks import role_break_checks
from theodolite.measurement.study.trees import tree_findings, tree_standings
from theodolite.measurement.trees.methods import BUILT_IN, Methods


def measure_study(
    evidence: Evidence, *, role_break_rules: RoleBreakRules | None = None, summaries: Methods = BUILT_IN
) -> Findings:
    """Measure everything that the evidence of a run supports.

    For each application and guideline: the rate of each defect rule, by the
    reference and by each annotator for itself, and the agreement of those who
    label. Levels of testing and kinds of testers are counted apart. Every
    planned session is in the outcomes of every estimate; those that failed, were
    refused, cannot be read or are still to come stay visible.

    Args:
        evidence: All records of one run.
        role_break_rules: Rules for role breaks, if the evidence has no results yet; None for no check.
        summaries: Summary methods that trees may name.

    Returns:
        Rates and agreements in the order of the study, then confusion matrices,
        what the checks of the simulated users found, how claims stand, strategies, trees, and how judges
        went about their work.

    Example:
        >>> from datetime import UTC, datetime
        >>> from theodolite.domain.evidence import listed_evidence
        >>> from theodolite.domain.run import Run, RunState
        >>> from theodolite.domain.study import Study
        >>> run = Run(
        ...     key="r1", number=1, study="empty", study_version="", plan_version="",
        ...     state=RunState.FINISHED, started=datetime(2026, 1, 1, tzinfo=UTC),
        ... )
        >>> study = Study(name="empty", applications=(), scenarios=())
        >>> measure_study(listed_evidence(study, run, sessions=())).measurements
        ()

    Source:
        Each `measure` names the function whose docstring names the source.
    """
    trees = tuple(tree_findings(evidence, summaries))
    measurements = tuple(_measurements(evidence))
    return Findings(
        measurements=measurements,
        confusions=tuple(_confusions(evidence)),
        role_breaks=_role_breaks(evidence, role_break_rules),
        claims=tuple(claim_tests(evidence)),
        strategies=strategy_tallies(evidence),
        trees=trees,
        standings=tuple(tree_standings(evidence, trees, summaries)),
        judge_diagnostics=tuple(judge_diagnostics(evidence)),
        realisms=tuple(realisms(evidence, measurements)),
        responses=tuple(response_findings(evidence)),
        risks=risk_findings(evidence),
        annotator_groups=adjusted(tuple(_groups(evidence))),
        raters=tuple(_raters(evidence)),
        codings=tuple(coding_findings(evidence)),
        tasks=tuple(task_tallies(evidence)),
        proxies=proxy_checks(evidence),
        orders=tuple(order_findings(evidence)),
        order_metrics=order_metrics(evidence),
        event=event_finding(evidence.study, evidence.event),
    )


def _role_breaks(evidence: Evidence, rules: RoleBreakRules | None) -> tuple[RoleBreakCheck, ...]:
    if evidence.role_breaks is not None:
        return evidence.role_breaks
    return role_break_checks(evidence, rules) if rules else ()


def _pieces(evidence: Evidence) -> Iterator[tuple[Application, Guideline]]:
    for application in evidence.study.applications:
        for guideline in evidence.study.guidelines:
            yield application, guideline


def _measurements(evidence: Evidence) -> Iterator[Measurement]:
    designs = _designs(evidence)
    for application, guideline in _pieces(evidence):
        for rule in guideline.defect_rules:
            question = guideline.instrument.question(rule.question)
            by = annotators_of(evidence.study, guideline, application, question.name)
            for subject, positions in _settings(evidence, application, guideline, rule):
                records = evidence.answers
                labels = QuestionLabels(
                    table=records, guideline=guideline, question=question, positions=positions, rule=rule
                )
                yield from rates(subject, labels, rule, by, evidence.study.groups)
                yield from _corrected(evidence.study, subject, labels, by, designs)
        for labels in _question_labels(evidence, application, guideline):
            yield from agreements(application.name, labels, _those_of(evidence, labels, application))
        for labels in _shared_question_labels(evidence, application, guideline):
            yield from pool_agreements(application.name, labels, _those_of(evidence, labels, application))
        for labels in _question_labels(evidence, application, guideline, _is_number):
            those = _those_of(evidence, labels, application)
            yield from score_agreements(application.name, labels, those)
            yield from _means(evidence.study, labels, those, designs)


def _those_of(evidence: Evidence, labels: QuestionLabels, application: Application) -> AnswerSources:
    """Return the annotators of a question."""
    return annotators_of(evidence.study, labels.guideline, application, labels.question.name)


def _corrected(
    study: Study,
    subject: EstimateSubject,
    labels: QuestionLabels,
    by: AnswerSources,
    designs: Mapping[str, Design],
) -> Iterator[Measurement]:
    """Yield the judges' rates with the corrections of the study: by a labelled sample, or by known accuracy."""
    rule = labels.rule
    for judge in (source for source in by.annotators if not source.is_person):
        choice = choice_for(judge.name, study.corrections)
        known = choice.calibration(rule.name) if rule else None
        if rule and known and choice.rate is RateCorrection.ROGAN_GLADEN:
            yield transported_rate(subject, labels, rule, judge, known)
        if choice.rate is RateCorrection.VERDICT_STRATIFIED:
            for person in (source for source in by.annotators if source.by_hand):
                yield from corrected_rates(
                    pair_question_labels(labels, judge, person, designs[labels.guideline.name]),
                    subject,
                )


def _means(
    study: Study, labels: QuestionLabels, by: AnswerSources, designs: Mapping[str, Design]
) -> Iterator[Measurement]:
    """Yield the means of judges' scores, raw and corrected by people's scores of a sample."""
    people = [source for source in by.annotators if source.by_hand]
    judges = [source for source in by.annotators if not source.is_person]
    for judge, person in product(judges, people):
        if choice_for(judge.name, study.corrections).mean is MeanCorrection.POWERED:
            yield from corrected_means(pair_question_labels(labels, judge, person, designs[labels.guideline.name]))


def _designs(evidence: Evidence) -> dict[str, Design]:
    """Return by guideline how people came to the dialogues that they labelled by hand; each is worked out once."""
    labelled = {annotator.guideline for annotator in evidence.study.annotators if annotator.by_hand}
    return {
        guideline.name: sample_design(evidence, guideline)
        for guideline in evidence.study.guidelines
        if guideline.name in labelled
    }


def _settings(
    evidence: Evidence, application: Application, guideline: Guideline, rule: DefectRule
) -> Iterator[tuple[EstimateSubject, Positions]]:
    """Yield an application under each level and tester type, each with the sessions that a rule applies to.

    A setting without such a session is left out; a rule that applies to no
    session at all is yielded once.
    """
    settings = evidence.answers.settings
    own = positions_of(evidence.study, evidence.answers, application, guideline)
    applicable = [position for position in own if rule.applies_to(settings[position].groups)]
    found_conditions = conditions(settings[position] for position in own)
    whole = EstimateSubject(application=application.name)
    by_condition = [
        (at.limited(whole), [position for position in applicable if at.holds(settings[position])])
        for at in found_conditions
    ]
    filled: list[tuple[EstimateSubject, Positions]] = [
        (subject, positions) for subject, positions in by_condition if positions
    ]
    yield from filled or [(whole, ())]


def _confusions(evidence: Evidence) -> Iterator[Confusion]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline):
            yield from confusions(application.name, labels, _those_of(evidence, labels, application))


def _groups(evidence: Evidence) -> Iterator[AnnotatorGroups]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline) if evidence.annotator_attributes else ():
            by = _those_of(evidence, labels, application)
            yield from annotator_groups(
                application.name, labels, by, evidence.annotator_attributes, seed=evidence.study.sampling.seed
            )


def _raters(evidence: Evidence) -> Iterator[RaterChecks]:
    for application, guideline in _pieces(evidence):
        for labels in _question_labels(evidence, application, guideline):
            yield from rater_checks(application.name, labels, _those_of(evidence, labels, application))


def _has_points(scale: Scale) -> bool:
    return bool(scale.categories)


def _is_number(scale: Scale) -> bool:
    return scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}


def _question_labels(
    evidence: Evidence,
    application: Application,
    guideline: Guideline,
    is_comparable: Callable[[Scale], bool] = _has_points,
) -> Iterator[QuestionLabels]:
    """Yield the questions that are asked once a dialogue and answered on a scale that can be compared."""
    positions = positions_of(evidence.study, evidence.answers, application, guideline)
    for question in guideline.instrument.questions:
        if question.level is QuestionLevel.DIALOGUE and is_comparable(question.scale):
            yield QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=positions)


def _shared_question_labels(
    evidence: Evidence, application: Application, guideline: Guideline
) -> Iterator[QuestionLabels]:
    """Yield the questions on which judges can agree with a pool; of the main question the label of the dialogue."""
    yield from _question_labels(evidence, application, guideline)
    question = guideline.question
    if question.level is QuestionLevel.TURN and _has_points(question.scale):
        positions = positions_of(evidence.study, evidence.answers, application, guideline)
        yield QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=positions)
