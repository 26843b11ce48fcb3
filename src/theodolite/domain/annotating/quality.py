"""Quality of annotation: reviews, gold items, the training of annotators, and judges that annotate alongside people."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.estimate import ValidationReport
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.identity import digest


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
class CategoryReadiness:
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
    categories: tuple[CategoryReadiness, ...]

    @property
    def open_to(self) -> frozenset[str]:
        """Names of the categories open to the annotator; empty before the texts were acknowledged."""
        if not (self.background_read and self.rules_read):
            return frozenset()
        return frozenset(progress.category for progress in self.categories if progress.is_ready)

    @property
    def is_cleared(self) -> bool:
        """Whether at least one category is open to the annotator."""
        return bool(self.open_to)


_MODEL = "model/"


def judge_key(judge: str) -> str:
    """Return the key under which a promoted judge annotates, which can never be mistaken for a person's.

    Example:
        >>> judge_key("safety")
        'model/safety'
    """
    return _MODEL + judge


def is_model(participant: str) -> bool:
    """Return whether a key is a judge's; keys of people never contain its mark."""
    return participant.startswith(_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The recorded decision that a judge's annotations count alongside people's, instead of in the background.

    It applies to one version of the judge and of the guideline. Each answer of a promoted
    judge stays marked as a model's.

    Attributes:
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        guideline: Name of the guideline.
        guideline_version: Content hash of the guideline.
        validation_report: Content hash of the underlying validation report.
        by: The deciding person.
        reason: Reason, in the person's words.
        number: Number of the promotion of this version, from 1.
    """

    judge: str
    judge_version: str
    guideline: str
    guideline_version: str
    validation_report: str = field(metadata={"stored_as": "certificate"})
    by: str
    reason: str
    number: int = 1

    @staticmethod
    def subject(judge_version: str) -> str:
        """Return the hash under which the promotions of one version of a judge are stored."""
        return digest("promotion", judge_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demotion:
    """The recorded decision that ends a promotion; stored with the promotion.

    Attributes:
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        by: The deciding person.
        reason: Reason, in the person's words.
        number: Number of the promotion that it ends, from 1.
    """

    judge: str
    judge_version: str
    by: str
    reason: str
    number: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePeople:
    """A judge's agreement with people on one question; every person's answer counts once.

    Attributes:
        question: Name of the question.
        n_people: People with answers on items that the judge answered; count.
        alike: Share of people's answers that equal the judge's.
        alpha: Chance-corrected agreement of the judge with people.
        people: Chance-corrected agreement of people with each other, on all their answers.
    """

    question: str
    n_people: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    people: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStatus:
    """State of a judge in a queue's study: in the background or promoted, with the evidence.

    Attributes:
        judge: Name of the judge in the study.
        guideline: Name of the guideline.
        version: Content hash of the judge with its guideline and its model.
        validation_report: The latest report of this version; None if there is none.
        promotion: The current promotion; None without one.
        past: Decisions about this version, in order.
        n_read: Dialogues of the queue that it has labelled in a run; count.
        n_passes: Annotations of the queue that it has taken; count.
    """

    judge: str
    guideline: str
    version: str
    validation_report: ValidationReport | None = None
    promotion: Promotion | None = None
    past: tuple[Promotion | Demotion, ...] = ()
    n_read: int = 0
    n_passes: int = 0
