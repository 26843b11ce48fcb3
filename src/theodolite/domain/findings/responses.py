"""What testers' answers to questionnaires came to: described, and compared between applications and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.findings.significance import Significance
from theodolite.domain.instrument import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSpread:
    """How the answers to one question are spread, for one application and perhaps one group of testers.

    Attributes:
        question: Name of the question.
        application: Name of the application.
        group: Name and value of the group; empty for all testers.
        counts: How many gave each label, in order of the scale; empty for free text.
        n: Responses with an answer; count.
        outcomes: What became of the question in the other responses; count each.
        quartiles: Lower quartile, median and upper quartile, as labels; None where the labels have no order.
        top_labels: The highest labels of the scale, whose share is told; empty where the labels have no order.
        top: Share of answers with one of them, of the sessions that have an answer.
        texts: What was written, for free text; never shown to annotators.
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
class AnswerContrast:
    """A test whether testers answer one question differently about two applications, or in two groups.

    Attributes:
        question: Name of the question.
        by: `application`, or the name of a group.
        first: The one side.
        second: The other.
        test: The test; each tester counts once.
        adjusted_p_value: The p-value for all comparisons of this questionnaire at this level; None where undefined.
    """

    question: str
    by: str
    first: str
    second: str
    test: Significance | Undefined
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFinding:
    """What one questionnaire brought at one level of testing; levels are never added.

    Attributes:
        questionnaire: Name of the questionnaire.
        version: Content hash of the questionnaire.
        title: Its heading.
        level: Level of testing.
        questions: Its questions, in order.
        n: Responses that were handed in; count.
        n_people: Testers who gave them; count.
        n_drafts: Responses that were begun and not handed in; count, in none of the numbers.
        n_other: Responses to another version of the questionnaire; likewise.
        spreads: A question and application each, then those of groups.
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
    """One of several sides that answers are held against each other by: an application, a group of testers.

    Attributes:
        name: What it is called.
        n_people: Testers who answered on it; count.
        spread: How their answers are spread; None where the testers are too few to be told of.
    """

    name: str
    n_people: int
    spread: AnswerSpread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePair:
    """Two sides, compared.

    Attributes:
        first: Name of the one.
        second: Name of the other.
        test: The test; each tester counts once on a side.
        effect: Probability that the second is higher, ties counting half; None where the same testers met both.
        adjusted_p_value: The p-value for all pairs of the question; None where undefined.
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
        test: A test of all sides at once; None where answers have no order, or there is one side alone.
        effect: Probability that the second of two sides is higher, ties counting half; None for more sides, or within.
        adjusted_p_value: Its p-value for all questions that are looked at together; None where undefined.
        pairs: Every two sides, where there are more than two.
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
    """A model of all answers to a question by their sides, each tester with a tendency of their own.

    Attributes:
        against: The side that the others are held against.
        odds: By name of each other side: odds of a higher answer there over those at `against`.
        held_equal: What else was held equal, such as the scenario.
        n: Answers; count.
        n_people: Testers; count.
        is_even: Whether each side moves the odds alike all along the scale, as far as that can be told.
    """

    against: str
    odds: Mapping[str, Estimate]
    held_equal: tuple[str, ...]
    n: int
    n_people: int
    is_even: bool
