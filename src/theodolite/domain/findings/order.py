"""Order: the sequence of scores within and between runs, and effects of orders and suggestions on answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from theodolite.domain.findings.number import Estimate, Outcomes, Undefined

FEWEST_SCORES: Final = 8
"""Minimum number of scores for order metrics; count. The published table is for eight, and fewer show only chance."""


class Band(StrEnum):
    """Band of a value in a published rule of thumb."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


PUBLISHED_LENGTH: Final = 8
"""Number of scores in RELEVANCE's table."""

ENTROPY_CUTS, INVERSION_CUTS, SUBSEQUENCE_CUTS = (0.35, 0.65), (4.5, 9.5), (3.5, 5.5)
"""Lower ends of medium and high in RELEVANCE's table for eight scores; PEN as a fraction of its maximum."""


def band_cuts(n: int) -> dict[str, tuple[float, float]]:
    """Return the lower ends of medium and high for sequences of a length, by metric; PEN normalised.

    Cut-offs of CIN and LIS are rescaled as fractions of the maximum, as in the bands of a profile.

    Example:
        >>> band_cuts(8)["cin"], band_cuts(16)["lis"]
        ((4.5, 9.5), (7.0, 11.0))
    """
    inversions = (n * (n - 1)) / (PUBLISHED_LENGTH * (PUBLISHED_LENGTH - 1))
    lengths = n / PUBLISHED_LENGTH
    return {
        "pen": ENTROPY_CUTS,
        "cin": (INVERSION_CUTS[0] * inversions, INVERSION_CUTS[1] * inversions),
        "lis": (SUBSEQUENCE_CUTS[0] * lengths, SUBSEQUENCE_CUTS[1] * lengths),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Distribution of a metric for the same scores in random order.

    Attributes:
        mean: Mean over all orders; in the metric's unit.
        sd: Standard deviation over all orders; in the metric's unit.
        at_most: Share of orders with a value at most the observed one.
        at_least: Share of orders with a value at least the observed one.
        method: Method of computation.
    """

    mean: float
    sd: float
    at_most: float
    at_least: float
    method: str

    @property
    def p_value(self) -> float:
        """Two-sided probability of a value at least as far from chance; fraction."""
        return min(1.0, 2.0 * min(self.at_most, self.at_least))

    def verdict(self, confidence: float = 0.95) -> str:
        """Return `below chance`, `above chance` or `like chance`, by a two-sided test."""
        tail = (1.0 - confidence) / 2.0
        if self.at_most <= tail:
            return "below chance"
        return "above chance" if self.at_least <= tail else "like chance"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderValue:
    """An order metric of one sequence.

    Attributes:
        value: The metric, in its own unit.
        band: Its band in the rule of thumb; None if there is none.
        in_gap: Whether it is in a gap of the published table, so that the band is our choice.
        chance: Distribution in random order, or the reason why it is undefined.
    """

    value: float
    band: Band | None
    in_gap: bool
    chance: Chance | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProfile:
    """RELEVANCE metrics of one sequence of scores, with their limits.

    Attributes:
        n: Scores; count.
        n_missing: Omitted positions without a score; count.
        order: Scores in a pattern; count.
        delay: Step between them; count.
        pen: Permutation entropy, with ties counted as rising; nats.
        pen_normalized: Permutation entropy as a fraction of its maximum.
        pen_weak: Permutation entropy with separate patterns for ties; nats.
        cin: Inversions; count.
        lis: Longest strictly increasing subsequence; count.
        lnds: Longest non-decreasing subsequence; count.
        level: Mean score; in points of the scale.
        defect_share: Share of scores that are defects, if there is a rule.
        tied_patterns: Share of patterns with ties; fraction.
        bands: Name of the rule of thumb behind the bands.
        notes: Limits of these numbers, one sentence each.
    """

    n: int
    n_missing: int
    order: int
    delay: int
    pen: OrderValue
    pen_normalized: float
    pen_weak: float
    cin: OrderValue
    lis: OrderValue
    lnds: OrderValue
    level: float
    defect_share: Estimate | Undefined
    tied_patterns: float
    bands: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingAgreement:
    """Agreement of a judge's ranking of units with people's ranking.

    Attributes:
        n: Units that both scored; count.
        n_missing: Units without a score from one of them; count.
        pen: Permutation entropy of the judge's scores in people's order; nats.
        pen_all_triples: Permutation entropy over all triples, adjacent or not; nats.
        cin: Pairs in opposite order; count.
        lis: Units in the longest chain that increases for both; count.
        tau: Kendall's tau-b, or the reason why it is undefined.
        spearman: Spearman's rho, or the reason why it is undefined.
        opposed_pairs: CIN as an estimate: share of all pairs, with its interval.
        common_chain: LIS as an estimate: length expected among as many units, with its interval.
        chance_cin: Expected value for an unrelated judge.
        chance_lis: Expected length of the longest chain for an unrelated judge.
    """

    n: int
    n_missing: int
    pen: float
    pen_all_triples: float
    cin: int
    lis: int
    tau: Estimate | Undefined
    spearman: Estimate | Undefined
    opposed_pairs: Estimate | Undefined
    common_chain: Estimate
    chance_cin: Chance | Undefined
    chance_lis: Chance | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingWindows:
    """Metrics of the rolling windows of one segment.

    Attributes:
        positions: Position of each window's last score in the whole history.
        level: Mean score; points of the scale.
        defect_share: Share of defects; fractions, empty if no rule defines defects.
        pen: Permutation entropy, normalised; fractions.
        cin: Inversions; counts.
        lis: Longest increasing subsequence; counts.
        lnds: Longest non-decreasing subsequence; counts.
    """

    positions: Sequence[int] = ()
    level: Sequence[float] = ()
    defect_share: Sequence[float] = ()
    pen: Sequence[float] = ()
    cin: Sequence[int] = ()
    lis: Sequence[int] = ()
    lnds: Sequence[int] = ()


class OrderFactor(StrEnum):
    """Elements at other positions."""

    QUESTIONS = "place of the question"
    OPTIONS = "order of the answers"
    TURNS = "order of the turns"
    QUEUE = "place in the queue"
    PREVIOUS = "dialogue before"
    SUGGESTIONS = "suggestions of a judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSide:
    """The answers in one order of presentation.

    Attributes:
        shown: The order, as text.
        n: Answers with a value; count.
        n_without_value: Answers without one: unable, does not apply, unparseable; count.
        given: Frequency of each label, in order of the scale; counts.
    """

    shown: str
    n: int
    n_without_value: int
    given: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffect:
    """Effect of an order on the answers to one question; a diagnosis, never a correction.

    Attributes:
        guideline: Name of the guideline.
        question: Name of the question.
        factor: Factor that varies.
        annotator: Name of the judge; empty for all people together.
        measured: Quantity of the shift, as text.
        first: The answers in the first order.
        second: The answers in the second order.
        shift: Second minus first, in the stated unit.
        n_annotators: Annotators in either order; count.
        n_dialogues: Dialogues in either order; count.
        n_between: Answers in the middle position or of unknown order; count, on neither side.
    """

    guideline: str
    question: str
    factor: OrderFactor
    measured: str
    first: OrderSide
    second: OrderSide
    shift: Estimate | Undefined
    n_annotators: int
    n_dialogues: int
    n_between: int
    annotator: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the shift excludes 0; by chance, one of twenty null shifts does."""
        shift = self.shift
        if isinstance(shift, Undefined) or shift.low is None or shift.high is None:
            return False
        return shift.low > 0 or shift.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSubject:
    """Annotator, application and question of scores.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        level: Level of testing; empty if the application was tested at only one.
        tester_type: Tester type; empty if there is only one.
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
        reason: Reason, in the annotator's words; empty if none was given or texts are withheld.
    """

    dialogue: str
    value: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScores:
    """The scores of one run, in order of its plan.

    Attributes:
        run: Number of the run.
        started: Start time.
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        annotator: Name of the annotator.
        annotator_version: Content hash of the annotator.
        values: Scores; None if one is missing.
        n_repeated: Scores reused unchanged from an earlier run; count.
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
        started: Start time.
        n: Scores; count.
        n_missing: Dialogues without one; count.
        n_repeated: Scores reused unchanged from an earlier run; count.
        level: Mean score; points of the scale, None if there is none.
        profile: The order metrics, or the reason why there are none.
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
        subject: The application, guideline and question.
        annotator: Name of the annotator; `reference` for final labels.
        lowest: Lower end of the scale; points.
        highest: Upper end of the scale; points.
        higher_is_worse: Whether the upper end is the bad one.
        outcomes: Outcomes of all planned dialogues.
        level: Mean score; points of the scale, None if there is none.
        profile: Metrics of the whole sequence, or the reason why there are none.
        window: Scores in a rolling window; count.
        windows: Metrics of rolling windows over the run, at most a few hundred; empty if none fits.
        worst: The worst scores with their reasons.
        runs: Metrics of each finished run of the study, this one last; empty if there is only one run.
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
    """Agreement of an annotator's ranking with people's ranking.

    Attributes:
        subject: The application, guideline and question.
        human: Name of the person; `reference` for final labels, `people` for the mean of several.
        annotator: Name of the judge or rule.
        outcomes: Outcomes of all planned dialogues; those scored by both are used.
        ranking: The agreement of the rankings, or the reason why there is none.
        is_sampled: Whether people scored a sample that depends on judges' labels.
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
