"""Quality of annotation: reviews, gold items, and the training of annotators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ReviewVerdict(StrEnum):
    """A senior annotator's verdict on an annotation."""

    ACCEPTED = "accepted"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCandidate:
    """An annotation that might be drawn for a review.

    Attributes:
        key: Token of the reservation.
        stratum: Population of the draw, e.g. category and annotator.
    """

    key: str
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReview:
    """One look of a senior annotator at one annotation.

    Attributes:
        reservation: Token of the reservation.
        revision: Revision of the annotation that was reviewed.
        verdict: The verdict.
        comment: In their words; never empty for a returned one.
        by: Opaque key of the senior annotator.
        at: Time; UTC.
    """

    reservation: str
    revision: int
    verdict: ReviewVerdict
    comment: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conscientiousness:
    """Quality indicators of one annotator for seniors; the program does not use them.

    Attributes:
        participant: Opaque key of the annotator.
        n_submitted: Submitted items; count.
        median_minutes: Time from reserving to submitting in the middle; minutes, None without any.
        gold_right: Answers to gold items that are right; count.
        gold_asked: Answers to gold items; count.
        early_alike: Answers of the first half of their work that the others gave too; count.
        early_asked: Answers of that half that others gave as well; count.
        late_alike: The same for the second half; count.
        late_asked: The same for the second half; count.
        n_returned: Annotations that a review returned; count.
    """

    participant: str
    n_submitted: int
    median_minutes: float | None
    gold_right: int = 0
    gold_asked: int = 0
    early_alike: int = 0
    early_asked: int = 0
    late_alike: int = 0
    late_asked: int = 0
    n_returned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """The value that is known to be right for one question, of the dialogue or (by its number) a turn."""

    question: str
    turn: int | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldItem:
    """A work item with known answers; shown to seniors, not used by the program.

    Attributes:
        item: Token of the work item.
        category: Name of the category.
        known: The correct answer.
        reason: Why, in the words of its author.
        met: Opaque key of each annotator who submitted it, their right answers and all known ones; counts.
    """

    item: str
    category: str
    known: tuple[KnownAnswer, ...]
    reason: str
    met: tuple[tuple[str, int, int], ...] = ()


class AnnotatorStep(StrEnum):
    """The steps of an annotator, in order; the last one is the work itself."""

    BACKGROUND = "background"
    RULES = "rules"
    PRACTICE = "practice"
    TEST = "test"
    WORK = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    """The status of one step.

    Attributes:
        number: Its number among the steps that the queue asks for, from 1.
        step: Which step.
        is_done: Whether nothing is left to do in it.
        is_next: Whether the annotator is reading it now.
    """

    number: int
    step: AnnotatorStep
    is_done: bool
    is_next: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One question of practice or of a test, as it was answered and as it should have been.

    Attributes:
        question: Name of the question.
        given: The answer; empty if none.
        expected: The keyed answer.
        is_right: Whether the answer counts as right.
        within: Points by which a number may differ and still count; 0 for exact.
        chance: Probability that a uniform guess among the offered answers counts as right; fraction 0..1.
        reason: Why the expected answer is right, in the words of the example.
    """

    question: str
    given: str
    expected: str
    is_right: bool
    within: int = 0
    chance: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationResult:
    """Result of one attempt at the test of a category.

    Attributes:
        marked: Every question with the answer given and expected.
        n_right: Right answers; count.
        n_asked: Questions; count.
        score: Share of right answers, corrected for guessing; None if it is undefined.
        passed: Whether the score reaches the pass mark.
        attempt: Number of the attempt, from 1.
        attempts_left: Attempts that are left; count, 0 after a pass.
    """

    marked: tuple[Marked, ...]
    n_right: int
    n_asked: int
    score: float | None
    passed: bool
    attempt: int
    attempts_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryStanding:
    """Training status of one annotator in one category of a queue.

    Attributes:
        category: Name of the category.
        version: Content hash of the guideline that qualifies.
        qualified: Whether its test was passed in this version, or none is asked for, or a senior let in without.
        attempts: Attempts at the test so far; count.
        attempts_left: Attempts that are left; count.
        n_practice: Examples to practise on; count.
        to_practise: Examples that are still open in this series, by their number, from 1.
        n_test: Keyed answers in the next test; count.
    """

    category: str
    version: str
    qualified: bool
    attempts: int
    attempts_left: int
    n_practice: int
    n_test: int
    to_practise: tuple[int, ...] = ()

    @property
    def practised(self) -> bool:
        """Whether all examples are practised."""
        return not self.to_practise

    @property
    def is_ready(self) -> bool:
        """Whether the annotator meets all requirements of this category itself."""
        return self.qualified and self.practised


@dataclass(frozen=True, slots=True, kw_only=True)
class Onboarding:
    """Progress of one annotator towards the queue, step by step.

    Attributes:
        background_read: Whether the background material was acknowledged, as it is now.
        rules_read: Whether the present impartiality rules were read.
        categories: The annotator's progress in each category.
    """

    background_read: bool
    rules_read: bool
    categories: tuple[CategoryStanding, ...]

    @property
    def open_to(self) -> frozenset[str]:
        """Names of the categories in which they may work: none before the texts were read."""
        if not (self.background_read and self.rules_read):
            return frozenset()
        return frozenset(standing.category for standing in self.categories if standing.is_ready)

    @property
    def is_cleared(self) -> bool:
        """Whether they may work in at least one category."""
        return bool(self.open_to)
