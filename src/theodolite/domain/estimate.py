"""Findings of a run: estimates with their conditions, claims under test, and validation reports of judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from theodolite.domain.application import Claim
from theodolite.domain.comparison import Comparison, GroupGap, TypologyRate
from theodolite.domain.estimate_subject import (
    ALL_APPLICATIONS,
    EstimateSubject,
    Measure,
    ScoreStatistic,
    Weighting,
    former_subject,
)
from theodolite.domain.event_record import EventFinding
from theodolite.domain.findings.agreement import AnnotatorGroups, JudgeDiagnostics, RaterChecks
from theodolite.domain.findings.number import Estimate, Outcomes, PluginMeasurement, TaskTally, Undefined
from theodolite.domain.findings.order import OrderEffect, OrderMetrics
from theodolite.domain.findings.realism import Realism, RoleBreakCheck
from theodolite.domain.findings.responses import CodingFinding, ConstructAnswers, ProxyCheck, ResponseFinding
from theodolite.domain.findings.risks import RiskFinding
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import canonical_json
from theodolite.domain.study_parts import ContaminationCheck
from theodolite.domain.tree_finding import TreeFinding, TreeStanding

__all__ = [
    "Confusion",
    "ConfusionMatrix",
    "Estimate",
    "Findings",
    "Measurement",
    "Outcomes",
    "StrategyTally",
    "Undefined",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A result of a study: an estimate with its subject and source.

    Attributes:
        measure: The measure.
        subject: The dialogues, labels and people that it describes.
        result: The number, or the reason why there is none.
        outcomes: Outcomes of all units planned for it.
        versions: Content hashes of the instruments by name.
        bounds: For rates with unlabelled units: the rate if none of them were a defect, and if all were; fractions.
        dialogues: Labels of the dialogues that count as the numerator, e.g. `d001`.
        non_defects: Labels of the other dialogues of the denominator, for whole rates.
        unlabelled: Labels of planned dialogues without a label, for whole rates.
        weighting: Weight of disagreements, for coefficients with several variants.
        statistic: Which number of `score_agreement` it is.
    """

    measure: Measure
    subject: EstimateSubject
    result: Estimate | Undefined
    outcomes: Outcomes
    versions: Mapping[str, str] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    dialogues: tuple[str, ...] = ()
    non_defects: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    weighting: Weighting | None = None
    statistic: ScoreStatistic | None = None

    @property
    def application(self) -> str:
        """Name of the application."""
        return self.subject.application


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix:
    """Number of units for each pair of labels of two annotators.

    Attributes:
        categories: All labels of the scale, used or not, in scale order.
        counts: counts[i][j] units have label i from the first annotator and j from the second.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Units in the matrix; count."""
        return sum(sum(row) for row in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """The confusion matrix of two annotators on one application.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        first: Name of the annotator in the rows; `reference` for final labels.
        second: Name of the annotator in the columns.
        matrix: The counts; `unparseable` is a separate category if it occurs.
    """

    application: str
    guideline: str
    question: str
    first: str
    second: str
    matrix: ConfusionMatrix


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyTally:
    """Success of one strategy against one application in one scenario.

    Attributes:
        scenario: Name of the scenario.
        strategy: Name of the strategy.
        application: Name of the application.
        level: Level of testing, as text.
        held_by: Tester type, as text.
        planned: Dialogues planned with it; count.
        tries: Completed dialogues with it; count.
        attempts: Attempts in them; count.
        refinements: Attempts that build on an earlier one; count.
        success: Share of dialogues in which the red teamer saw a release.
        dialogues: Labels of these dialogues.
        held: Labels of all completed dialogues with it.
        confirmed: Annotator to the number of dialogues of this strategy that it labels as
            a release of prohibited content; count.
    """

    scenario: str
    strategy: str
    application: str
    level: str
    held_by: str
    planned: int
    tries: int
    attempts: int
    refinements: int
    success: Estimate | Undefined
    dialogues: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    confirmed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All results of the measurement of a run.

    Attributes:
        measurements: Rates and agreements.
        confusions: Confusion matrices.
        role_breaks: Results of the checks of simulated users; empty if none were requested.
        claims: Evidence from dialogues on the applications' claims.
        strategies: Attacks that red teamers tried, and their outcomes.
        trees: Results of measurement trees.
        standings: Relations of the applications on each tree.
        judge_diagnostics: Behaviour of judges.
        realisms: Simulated users compared with people, for scenarios with dialogues of both.
        responses: Testers' answers after their sessions, one entry for each questionnaire and level.
        risks: Materialised risks, one entry for each risk, application and level.
        annotator_groups: Agreement by self-described group, one entry for each question, application and attribute.
        raters: Estimates of rater models, one entry for each question and application.
        codings: Results of coding free-text answers, one for each open question.
        tasks: Task completion by people, one entry for each application and level.
        proxies: Evidence on scenarios as proxies, one entry for each rule and annotator.
        orders: Effects of the order of questions, answers and dialogues, one entry for each question and order.
        order_metrics: The order of scores over dialogues and runs, and in people's ranking.
        event: Blinding, exposure and withdrawals; None without participants.
        contamination: The search for canaries, one for each pack and held-out packet of the study.
        comparisons: Pairwise comparisons of the run's applications.
        gaps: Differences of rates between groups of dialogues.
        constructs: Users' views of the content, one entry for each question, application and scenario.
        typology: Rates of each type of user with each type of application.
        plugin_measures: Measures of plugins that the study names, one for each application, question and annotator.
    """

    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...] = ()
    role_breaks: tuple[RoleBreakCheck, ...] = ()
    claims: tuple[ClaimTest, ...] = ()
    strategies: tuple[StrategyTally, ...] = ()
    trees: tuple[TreeFinding, ...] = ()
    standings: tuple[TreeStanding, ...] = ()
    judge_diagnostics: tuple[JudgeDiagnostics, ...] = ()
    realisms: tuple[Realism, ...] = ()
    responses: tuple[ResponseFinding, ...] = ()
    risks: tuple[RiskFinding, ...] = ()
    annotator_groups: tuple[AnnotatorGroups, ...] = ()
    raters: tuple[RaterChecks, ...] = ()
    codings: tuple[CodingFinding, ...] = ()
    tasks: tuple[TaskTally, ...] = ()
    proxies: tuple[ProxyCheck, ...] = ()
    orders: tuple[OrderEffect, ...] = ()
    order_metrics: OrderMetrics = field(default_factory=OrderMetrics)
    event: EventFinding | None = None
    contamination: tuple[ContaminationCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    gaps: tuple[GroupGap, ...] = ()
    plugin_measures: tuple[PluginMeasurement, ...] = ()
    constructs: tuple[ConstructAnswers, ...] = ()
    typology: tuple[TypologyRate, ...] = ()


class ClaimStatus(StrEnum):
    """State of a claim after a run."""

    SUPPORTED = "supported"
    """Dialogues of its scripts were labelled and none of them is a defect."""
    CONTRADICTED = "contradicted"
    """At least one of them is a defect."""
    NOT_TESTED = "not tested"
    """None of them has a label, or the deciding rule is ambiguous."""
    UNTESTABLE = "untestable"
    """The study states why no dialogue can test it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTest:
    """One claim compared with the labels of one annotator.

    Attributes:
        application: Name of the application that makes the claim.
        claim: The claim.
        status: State of the claim.
        guideline: Name of the deciding rule's guideline; empty if there is none.
        rule: Name of the defect rule; empty if there is none.
        annotator: Annotator of the labels; `reference` for final labels, empty if none decide.
        planned: Planned dialogues of its scripts to which the rule applies; count.
        n: Labelled dialogues among them; count.
        contradicting: Labels of the dialogues that are a defect, e.g. `d003`.
        reason: Reason why it is not tested or untestable; empty if it is tested.
    """

    application: str
    claim: Claim
    status: ClaimStatus
    guideline: str = ""
    rule: str = ""
    annotator: str = ""
    planned: int = 0
    n: int = 0
    contradicting: tuple[str, ...] = ()
    reason: str = ""


def rules_meant(claim: Claim, guidelines: Iterable[Guideline]) -> tuple[tuple[Guideline, DefectRule], ...]:
    """Return the defect rules that a claim may refer to; it is unambiguous if there is one.

    A claim names a rule, a guideline, or `guideline.rule`. A claim that names
    none matches any rule, so a study with a single rule needs no name.
    """
    return tuple(
        (guideline, rule)
        for guideline in guidelines
        for rule in guideline.defect_rules
        if claim.rule in {"", rule.name, guideline.name, f"{guideline.name}.{rule.name}"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """The known and missing facts about one version of a judge.

    It belongs to the content hash of the judge: another model, prompt format,
    guideline or voting rule makes another judge that needs its own report.

    Attributes:
        study: Name of the study in which it was issued.
        run: Number of the run whose dialogues were labelled.
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        guideline: Name of the guideline.
        guideline_version: Content hash of the guideline.
        issued: Time; UTC.
        judged: Dialogues given to the judge; count.
        labelled: Dialogues labelled by at least one authority; count.
        authorities: Reference of the comparison: `reference`, or names of people.
        measurements: All figures.
        confusions: Labels of one annotator by labels of another.
        lacking: Unavailable measures with the reasons, as sentences.
    """

    STORED_AS: ClassVar[str] = "Certificate"

    study: str
    run: int
    judge: str
    judge_version: str
    guideline: str
    guideline_version: str
    issued: datetime
    judged: int
    labelled: int
    authorities: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    confusions: tuple[Confusion, ...] = ()
    lacking: tuple[str, ...] = ()

    @staticmethod
    def in_present_shape(text: str) -> str:
        """Return the JSON of a validation report with typed subjects, for reports of any version (ADR-0061)."""
        validation_report = json.loads(text)
        if all("subject" in entry for entry in validation_report["measurements"]):
            return text
        typed = [_with_typed_subject(entry) for entry in validation_report["measurements"]]
        return canonical_json(validation_report | {"measurements": typed})

    def figure(self, measure: Measure, *, authority: str = "", rule: str = "") -> Measurement | None:
        """Return the first figure of a measure over all dialogues; None without one.

        Args:
            measure: The measure.
            authority: Reference of the judge's validation; empty for any, or for none.
            rule: Name of the defect rule; empty for any, or for none.
        """
        return next(
            (
                measurement
                for measurement in self.measurements
                if measurement.measure is measure
                and measurement.application == ALL_APPLICATIONS
                and not measurement.subject.is_part
                and authority in {"", measurement.subject.authority}
                and rule in {"", measurement.subject.rule}
            ),
            None,
        )


def _with_typed_subject(members: Mapping[str, Any]) -> dict[str, Any]:
    former = former_subject(Measure(members["measure"]), members["application"], members["about"])
    others = {name: part for name, part in members.items() if name not in {"application", "about"}}
    return {**others, "subject": former.subject, "weighting": former.weighting, "statistic": former.statistic}
