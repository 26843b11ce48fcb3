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
    """A candidate annotation for a review.

    Attributes:
        key: Token of the reservation.
        stratum: Stratum of the sample, e.g. category and annotator.
    """

    key: str
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReview:
    """A senior annotator's review of one annotation.

    Attributes:
        reservation: Token of the reservation.
        revision: Reviewed revision of the annotation.
        verdict: The verdict.
        comment: Comment of the reviewer; never empty for a returned annotation.
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
    """Quality indicators of one annotator for seniors; the program itself does not use them.

    Attributes:
        participant: Opaque key of the annotator.
        n_submitted: Submitted items; count.
        median_minutes: Median time from reservation to submission; minutes, None without submissions.
        gold_right: Right answers to gold items; count.
        gold_asked: Answers to gold items; count.
        early_alike: Answers in the first half of the work that equal other annotators' answers; count.
        early_asked: Answers in that half that other annotators also gave; count.
        late_alike: Answers in the second half that equal other annotators' answers; count.
        late_asked: Answers in the second half that other annotators also gave; count.
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
    """The known value of one question, about the dialogue or a turn."""

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
        reason: Reason, in the author's words.
        met: Opaque key of each annotator who submitted it, with right answers and all known answers; counts.
    """

    item: str
    category: str
    known: tuple[KnownAnswer, ...]
    reason: str
    met: tuple[tuple[str, int, int], ...] = ()


class AnnotatorStep(StrEnum):
    """The steps of an annotator, in order; the last is the work itself."""

    BACKGROUND = "background"
    RULES = "rules"
    PRACTICE = "practice"
    TEST = "test"
    WORK = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatus:
    """The status of one step.

    Attributes:
        number: Number among the steps that the queue requires, from 1.
        step: The step.
        is_done: Whether it is complete.
        is_next: Whether it is the current step.
    """

    number: int
    step: AnnotatorStep
    is_done: bool
    is_next: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A question of practice or of a test, with the given and the expected answer.

    Attributes:
        question: Name of the question.
        given: The answer; empty for none.
        expected: The keyed answer.
        is_right: Whether the answer counts as right.
        within: Tolerance for a number that still counts as right; scale points, 0 for exact.
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
        attempts_left: Remaining attempts; count, 0 after a pass.
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
        version: Content hash of the guideline.
        qualified: Whether the test of this version was passed or is not required, or a senior admitted them.
        attempts: Attempts at the test so far; count.
        attempts_left: Remaining attempts; count.
        n_practice: Examples to practise on; count.
        to_practise: Examples not yet practised in this series, by number, from 1.
        n_test: Questions in the next test; count.
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
        """Whether the annotator meets all requirements of this category."""
        return self.qualified and self.practised


@dataclass(frozen=True, slots=True, kw_only=True)
class Onboarding:
    """Progress of one annotator towards the queue, step by step.

    Attributes:
        background_read: Whether the current background material was acknowledged.
        rules_read: Whether the current impartiality rules were acknowledged.
        categories: The annotator's progress in each category.
    """

    background_read: bool
    rules_read: bool
    categories: tuple[CategoryStanding, ...]

    @property
    def open_to(self) -> frozenset[str]:
        """Names of the categories open to the annotator; empty before the texts were acknowledged."""
        if not (self.background_read and self.rules_read):
            return frozenset()
        return frozenset(standing.category for standing in self.categories if standing.is_ready)

    @property
    def is_cleared(self) -> bool:
        """Whether at least one category is open to the annotator."""
        return bool(self.open_to)
