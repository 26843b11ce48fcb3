"""Estimates: numbers that carry what one must know to believe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.claim import ClaimTest
from theodolite.domain.codings.finding import CodingFinding
from theodolite.domain.estimate_subject import EstimateSubject, Measure, ScoreStatistic, Weighting
from theodolite.domain.findings.agreeing import AnnotatorGroups, RaterChecks
from theodolite.domain.findings.judge_diagnostics import JudgeDiagnostics
from theodolite.domain.findings.number import Estimate, Outcomes, Undefined
from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.domain.findings.order_metrics import OrderMetrics
from theodolite.domain.findings.proxy_check import ProxyCheck
from theodolite.domain.findings.realism import Realism
from theodolite.domain.findings.responses import ResponseFinding
from theodolite.domain.findings.risks import RiskFinding
from theodolite.domain.findings.role_break import RoleBreakCheck
from theodolite.domain.findings.task_tally import TaskTally
from theodolite.domain.people.event_record import EventFinding
from theodolite.domain.trees.finding import TreeFinding, TreeStanding

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
    """One result of a study: an estimate, its subject and where it came from.

    Attributes:
        measure: What was measured.
        subject: Of which dialogues, labels and people.
        result: The number, or why there is none.
        outcomes: Account of all units that were planned for it.
        versions: Content hashes of the instruments by name.
        bounds: For rates with unlabelled units: the rate if none of them were a
            defect, and if all were; fractions.
        dialogues: Labels of the dialogues that count as the numerator, e.g. `d001`.
        non_defects: Labels of the other dialogues of the denominator, for whole rates.
        unlabelled: Labels of planned dialogues without a label, for whole rates.
        weighting: How much a disagreement counts, for coefficients that have several ways.
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
    """How often two annotators gave which pair of labels.

    Attributes:
        categories: All labels of the scale, used or not, in scale order.
        counts: counts[i][j] units got label i from the first and j from the second.
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
        matrix: The counts; `unparseable` is a category of its own where it occurs.
    """

    application: str
    guideline: str
    question: str
    first: str
    second: str
    matrix: ConfusionMatrix


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyTally:
    """How one strategy fared against one application in one scenario.

    Attributes:
        scenario: Name of the scenario.
        strategy: Name of the strategy.
        application: Name of the application.
        level: Level of testing, in words.
        held_by: Who held the tester's side, in words.
        planned: Dialogues planned with it; count.
        tries: Dialogues held with it; count.
        attempts: Attempts in them; count.
        refinements: Attempts that build on an earlier one; count.
        success: Share of dialogues in which the red teamer saw something released.
        dialogues: Labels of these dialogues.
        held: Labels of all dialogues held with it.
        confirmed: Annotator to the dialogues of this strategy that it labels as
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
    """Everything that was measured in a run.

    Attributes:
        measurements: Rates and agreements.
        confusions: Confusion matrices.
        role_breaks: What the checks of simulated users found; empty where none were asked for.
        claims: What dialogues say of the applications' claims.
        strategies: What red teamers tried, and how it went.
        trees: What measurement trees came to.
        standings: How the applications stand to each other on each tree.
        judge_diagnostics: Behaviour of judges.
        realisms: Simulated users beside people, for scenarios with dialogues of both.
        responses: What testers answered after their sessions, a questionnaire and level each.
        risks: Where risks became real, a risk, application and level each.
        annotator_groups: How far people of each self-described group agree, a question, application and attribute each.
        raters: What models of raters make of the annotators, a question and application each.
        codings: What came of coding answers in own words, an open question each.
        tasks: In how many sessions people completed their task, an application and level each.
        proxies: What scenarios show of serving as the proxies that they are, a rule and annotator each.
        orders: What the order of questions, answers and dialogues did to answers, a question and order each.
        order_metrics: The order of scores over dialogues and runs, and in people's ranking.
        event: Blinding, exposure and withdrawals; None where nobody took part.
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
