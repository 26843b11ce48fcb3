"""Order metrics of a study: the order of scores over a run and over runs, and in people's ranking."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from theodolite.domain.findings.number import Outcomes, Undefined
from theodolite.domain.findings.order import OrderProfile, RankingAgreement, RollingWindows


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSubject:
    """Whose scores of which application, to which question.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        level: Level of testing; empty where the application was tested at one only.
        tester_type: Who held the tester's side; empty likewise.
    """

    application: str
    guideline: str
    question: str
    level: str = ""
    tester_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstScore:
    """One of the worst scores, with the annotator's reason.

    Attributes:
        dialogue: Label of the dialogue.
        value: The score; points of the scale.
        reason: Why, in the annotator's words; empty where none was given or texts are withheld.
    """

    dialogue: str
    value: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScores:
    """The scores of one run, in order of its plan.

    Attributes:
        run: Number of the run.
        started: When it started.
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        annotator: Name of the annotator.
        annotator_version: Content hash of the annotator.
        values: Scores; None where one is missing.
        n_repeated: Of these, taken over unchanged from an earlier run; count.
    """

    run: int
    started: datetime | None
    application: str
    guideline: str
    question: str
    annotator: str
    annotator_version: str
    values: tuple[float | None, ...]
    n_repeated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """Order metrics of one run among several.

    Attributes:
        run: Number of the run.
        started: When it started.
        n: Scores; count.
        n_missing: Dialogues without one; count.
        n_repeated: Scores taken over unchanged from an earlier run; count.
        level: Mean score; points of the scale, None where there is none.
        profile: The order metrics, or why there are none.
        is_same_annotator: Whether the annotator's version is that of the reported run.
    """

    run: int
    started: datetime | None
    n: int
    n_missing: int
    n_repeated: int
    level: float | None
    profile: OrderProfile | Undefined
    is_same_annotator: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFinding:
    """Order metrics of one annotator's scores of one application, in order of the dialogues.

    Attributes:
        subject: Which application, guideline and question.
        annotator: Name of the annotator; `reference` for final labels.
        lowest: Lower end of the scale; points.
        highest: Upper end of the scale; points.
        higher_is_worse: Whether the upper end is the bad one.
        outcomes: Account of all planned dialogues.
        level: Mean score; points of the scale, None where there is none.
        profile: Metrics of the whole sequence, or why there are none.
        window: Scores in a rolling window; count.
        windows: Metrics of rolling windows over the run, some hundred at most; empty where none fits.
        worst: The worst scores with their reasons.
        runs: The same metrics for each finished run of the study, this one last; empty where there is one run.
    """

    subject: ScoreSubject
    annotator: str
    lowest: float
    highest: float
    higher_is_worse: bool
    outcomes: Outcomes
    level: float | None
    profile: OrderProfile | Undefined
    window: int
    windows: RollingWindows = field(default_factory=RollingWindows)
    worst: tuple[WorstScore, ...] = ()
    runs: tuple[RunOrder, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFinding:
    """How far one annotator's scores follow the order of people's scores.

    Attributes:
        subject: Which application, guideline and question.
        human: Name of the person; `reference` for final labels, `people` for the mean of several.
        annotator: Name of the judge or rule.
        outcomes: Account of all planned dialogues; used are those that both scored.
        ranking: The agreement of both orders, or why there is none.
        is_sampled: Whether people scored a sample that was drawn by judges' labels.
    """

    subject: ScoreSubject
    human: str
    annotator: str
    outcomes: Outcomes
    ranking: RankingAgreement | Undefined
    is_sampled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderMetrics:
    """All order metrics of a study's scored questions.

    Attributes:
        sequences: One for each application, question and annotator.
        rankings: One for each application, question, human ranking and automated annotator.
    """

    sequences: tuple[OrderFinding, ...] = ()
    rankings: tuple[RankingFinding, ...] = ()
