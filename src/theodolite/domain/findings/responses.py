"""Answers to questionnaires, described and compared; themes of coded answers; proxy checks of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.annotation import Outcome
from theodolite.domain.coding import CodedState
from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Significance, Undefined
from theodolite.domain.instrument import Construct, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSpread:
    """Distribution of the answers to one question, for one application and optionally one group of testers.

    Attributes:
        question: Name of the question.
        application: Name of the application.
        group: Name and value of the group; empty for all testers.
        counts: Frequency of each label, in order of the scale; empty for free text.
        n: Responses with an answer; count.
        outcomes: Outcomes of the question in the other responses; counts.
        quartiles: Lower quartile, median and upper quartile, as labels; None if the labels have no order.
        top_labels: The highest labels of the scale, whose share is reported; empty if the labels have no order.
        top: Share of answers with one of them, among the sessions with an answer.
        texts: Free-text answers; never shown to annotators.
    """

    question: str
    application: str
    group: tuple[str, str] | tuple[()] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    n: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    quartiles: tuple[str, str, str] | None = None
    top_labels: tuple[str, ...] = ()
    top: Estimate | Undefined | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructAnswers:
    """The answers to one question on users' views of the content, for one application.

    Attributes:
        construct: Construct of the question.
        instrument: Name of the questionnaire, or of the guideline.
        annotator: The annotator; empty for answers of testers about themselves.
        level: Level of testing.
        question: The question.
        application: Name of the application.
        scenario: Name of the scenario; empty for all scenarios.
        spread: Distribution of the answers; a dialogue shared by a pool has one label per annotator.
        n_clusters: Testers, or dialogues, behind the answers; count.
    """

    construct: Construct
    instrument: str
    annotator: str
    level: Level
    question: Question
    application: str
    scenario: str
    spread: AnswerSpread
    n_clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContrast:
    """A test whether testers answer one question differently about two applications, or in two groups.

    Attributes:
        question: Name of the question.
        by: `application`, or the name of a group.
        first: The one side.
        second: The other value.
        test: The test; each tester counts once.
        adjusted_p_value: The p-value for all comparisons of this questionnaire at this level; None if undefined.
    """

    question: str
    by: str
    first: str
    second: str
    test: Significance | Undefined
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFinding:
    """Results of one questionnaire at one level of testing; levels are never added.

    Attributes:
        questionnaire: Name of the questionnaire.
        version: Content hash of the questionnaire.
        title: Its heading.
        level: Level of testing.
        questions: Its questions, in order.
        n: Responses that were handed in; count.
        n_people: Testers with an answer; count.
        n_drafts: Responses that were started but not submitted; count, in none of the numbers.
        n_other: Responses to another version of the questionnaire; count, in none of the numbers.
        spreads: One entry for each question and application, then those of groups.
        contrasts: Comparisons of applications, then of groups.
    """

    questionnaire: str
    version: str
    title: str
    level: Level
    questions: tuple[Question, ...]
    n: int
    n_people: int
    n_drafts: int = 0
    n_other: int = 0
    spreads: tuple[AnswerSpread, ...] = ()
    contrasts: tuple[AnswerContrast, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSide:
    """One of several sides whose answers are compared: an application, or a group of testers.

    Attributes:
        name: Its name.
        n_people: Testers with an answer on it; count.
        spread: Spread of their answers; None if the testers are too few to be reported.
    """

    name: str
    n_people: int
    spread: AnswerSpread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePair:
    """Two sides, compared.

    Attributes:
        first: Name of the first.
        second: Name of the other.
        test: The test; each tester counts once on a side.
        effect: Probability that the second is higher, with ties counting half; None if the same testers tested both.
        adjusted_p_value: The p-value for all pairs of the question; None if undefined.
    """

    first: str
    second: str
    test: Significance | Undefined
    effect: Estimate | Undefined | None = None
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComparison:
    """How the answers to one question differ between sides.

    Attributes:
        question: The question.
        sides: In order.
        is_within: Whether the same testers are compared with themselves.
        test: A test of all sides together; None if answers have no order, or there is only one side.
        effect: Probability that the second of two sides is higher, ties counting half; None for more sides, or within.
        adjusted_p_value: Its p-value, adjusted for all questions; None if undefined.
        pairs: Every two sides, if there are more than two.
    """

    question: Question
    sides: tuple[AnswerSide, ...]
    is_within: bool = False
    test: Significance | Undefined | None = None
    effect: Estimate | Undefined | None = None
    adjusted_p_value: float | None = None
    pairs: tuple[SidePair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideModel:
    """A model of all answers to a question by their sides, each tester with their own tendency.

    Attributes:
        against: The reference side.
        odds: Odds ratio of a higher answer, compared with `against`, by name of each other side.
        held_equal: Factors adjusted for, e.g. the scenario.
        n: Answers; count.
        n_people: Testers; count.
        is_even: Whether the odds are proportional along the scale, as far as a test can show.
    """

    against: str
    odds: Mapping[str, Estimate]
    held_equal: tuple[str, ...]
    n: int
    n_people: int
    is_even: bool


class Reach(StrEnum):
    """Whether a scenario can separate better from worse applications."""

    NOTHING_KNOWN = "nothing known"
    NEVER = "no application ever failed"
    ALWAYS = "every application failed always"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRate:
    """Frequency of the defect in the scenario with one application, at one level of testing."""

    application: str
    level: Level
    defect: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOrder:
    """Whether two levels of testing rank applications in the same order.

    Attributes:
        first: The one level.
        second: The other value.
        alike: Pairs of applications that both levels rank alike; count.
        opposed: Pairs that they rank in opposite order; count.
        tied: Pairs that at least one of them finds equally bad; count.
    """

    first: Level
    second: Level
    alike: int
    opposed: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyCheck:
    """Evidence from one annotator's labels by one rule on one scenario as a proxy.

    Efficacy: whether the scenario elicits its target behaviour, and separates applications that the same testers
    met. Validity, as far as a run can carry it: whether levels of testing agree on which application is worse. Whether
    the proxy represents its real use case must be decided by people who know that use.

    Attributes:
        scenario: Name of the scenario.
        rule: The rule, as `guideline.rule`.
        annotator: The annotator; `reference` for final labels.
        n_planned: Sessions of the scenario to which the rule applies; count.
        n_held: Completed dialogues in them; count.
        n_labelled: Dialogues with a label by the rule; count.
        rates: Rate by application and level.
        apart: Test whether applications differ, over testers who tested all of them at one level.
        orders: Order of applications, two levels each.
        adjusted_p_value: The p-value of `apart`, adjusted for all checks of the run; None if undefined.
    """

    scenario: str
    rule: str
    annotator: str
    n_planned: int
    n_held: int
    n_labelled: int
    rates: tuple[ProxyRate, ...]
    apart: Significance | Undefined
    orders: tuple[LevelOrder, ...] = ()
    adjusted_p_value: float | None = None

    @property
    def reach(self) -> Reach:
        """Whether the applications can differ."""
        shares = [rate.defect.value for rate in self.rates if isinstance(rate.defect, Estimate)]
        if not shares:
            return Reach.NOTHING_KNOWN
        if max(shares) <= 0:
            return Reach.NEVER
        return Reach.ALWAYS if min(shares) >= 1 else Reach.BETWEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAgreement:
    """Agreement of coders on one code; a diagnosis, never a decision.

    Attributes:
        code: Name of the code.
        n_given: Codings with it; count.
        alike: Share of doubly coded answers with equal codes.
        alpha: Krippendorff's alpha, nominal.
    """

    code: str
    n_given: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderPair:
    """Agreement of two coders on the answers that both have coded; a diagnosis, never a decision.

    Attributes:
        first: Opaque key of the first.
        second: Opaque key of the second.
        n: Answers that both have coded; count.
        alike: Share of them to which both gave the same codes.
        alpha: Krippendorff's alpha of the code sets, with the MASI distance.
        codes: Agreement on each code.
    """

    first: str
    second: str
    n: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    codes: tuple[CodeAgreement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeShare:
    """Answers with one theme, for one application and level and optionally one group of testers.

    Attributes:
        code: Name of the code.
        application: Name of the application.
        level: Level of testing; levels are never added.
        group: Name and value of the group; empty for all testers.
        n: Answers with a known code for it; count.
        n_undecided: Answers on which coders differ without a consensus; count, not in `n`.
        n_uncoded: Answers that two have not coded yet; count, not in `n`.
        n_people: Testers behind the known ones; count.
        share: Share of the known ones; None if the people are too few to be reported.
        bounds: The share if none, and if all, of the undecided and uncoded ones mention it; fractions,
            None if withheld or if there are no answers.
    """

    code: str
    application: str
    level: Level
    group: tuple[str, str] | tuple[()] = ()
    n: int = 0
    n_undecided: int = 0
    n_uncoded: int = 0
    n_people: int = 0
    share: Estimate | Undefined | None = None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeQuote:
    """An answer that may be shown, with the codes it has beyond dispute.

    Attributes:
        text: The released text.
        codes: Names of the codes.
        application: Name of the application.
        level: Level of testing.
    """

    text: str
    codes: tuple[str, ...]
    application: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingFinding:
    """Result of coding the answers to one open question.

    Attributes:
        questionnaire: Name of the questionnaire.
        question: Name of the question.
        text: Text of the question.
        codebook: Content hash of the codebook.
        revision: Number of its revision.
        name: Name of the codebook; empty for the default of questions without their own.
        n: Answers; count.
        n_coders: People who coded some of them; count.
        states: States of the answers; counts that add up to `n`.
        alike: Share of answers coded by two to which both gave the same codes.
        alpha: Krippendorff's alpha of the code sets, with the MASI distance.
        codes: Agreement on each code.
        pairs: Agreement of every two coders who have coded the same answers.
        themes: Share of each code by application and level, then by group within each.
        quotes: Answers that may be shown.
    """

    questionnaire: str
    question: str
    text: str
    codebook: str
    revision: int
    name: str = ""
    n: int
    n_coders: int
    states: Mapping[CodedState, int] = field(default_factory=dict)
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    codes: tuple[CodeAgreement, ...] = ()
    pairs: tuple[CoderPair, ...] = ()
    themes: tuple[ThemeShare, ...] = ()
    quotes: tuple[ThemeQuote, ...] = ()

    @property
    def coders(self) -> dict[str, str]:
        """Displayed names of the coders of pairs, by opaque key: numbered in the order of keys."""
        keys = sorted({key for pair in self.pairs for key in (pair.first, pair.second)})
        return {key: f"coder {number}" for number, key in enumerate(keys, 1)}
