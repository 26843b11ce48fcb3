"""Agreement of annotators, the progress of their work, and diagnostics of judges."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from theodolite.domain.annotator import Voting
from theodolite.domain.findings.number import Estimate, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryProgress:
    """Progress of one category of a queue.

    Attributes:
        category: Name of the category.
        n_items: Dialogues in it; count.
        n_complete: Those with all passes, frozen ones included; count.
        n_frozen: Those under review or reviewed; count.
        n_aside: Those set aside by a case; count.
        n_passes: Passes wanted; count.
        n_done: Passes submitted; count.
        n_reserved: Reserved passes; count.
        n_disputed: Dialogues with an answer that differs; count.
    """

    category: str
    n_items: int
    n_complete: int
    n_frozen: int
    n_aside: int
    n_passes: int
    n_done: int
    n_reserved: int
    n_disputed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStretch:
    """The agreement on one question in one period.

    Attributes:
        begun: Time of its first submission; UTC.
        ended: When its last unit was; UTC.
        alike: Share of units with unanimous answers.
        alpha: Agreement beyond chance.
    """

    begun: datetime
    ended: datetime
    alike: Estimate | Undefined
    alpha: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAgreement:
    """The agreement on one question on one day.

    Attributes:
        day: The day in the time zone of the event.
        n_shared: Dialogues, or turns, whose latest label of two or more is of this day; count.
        alpha: Agreement beyond chance.
    """

    day: date
    n_shared: int
    alpha: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAgreement:
    """People's agreement on one question; a diagnosis, never a label.

    Attributes:
        category: Name of the category.
        question: Name of the question.
        scale: Level of measurement of alpha: nominal, ordinal or interval.
        n_annotators: People who answered; count.
        n_units: Dialogues, or turns, with an answer; count.
        n_shared: Those with answers of two people or more; count.
        n_without_value: Answers that are no label: unable, does not apply; count.
        alike: Share of the shared units on which all gave the same label.
        alpha: Krippendorff's alpha.
        prevalence: Label to how often it was given; counts.
        over_time: The same in stretches of equally many units, in order of time.
    """

    category: str
    question: str
    scale: str
    n_annotators: int
    n_units: int
    n_shared: int
    n_without_value: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    prevalence: tuple[tuple[str, int], ...]
    over_time: tuple[AnswerStretch, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two annotators on one question.

    Attributes:
        first: Name of the one.
        second: Name of the other; a model where `is_model`.
        question: Name of the question.
        alike: Share of the units that both labelled on which they gave the same label.
        alpha: Krippendorff's alpha.
        is_model: Whether the second is a model.
    """

    first: str
    second: str
    question: str
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    is_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """One annotator's answers to one question, and others' agreement on the same units.

    Attributes:
        annotator: Name of the annotator.
        n_answers: Answers; count.
        n_without_value: Those that are no label: unable, does not apply; count.
        alike: Share of others' labels, on units that this annotator labelled, that equal theirs.
        prevalence: Label to how often they gave it; counts.
    """

    annotator: str
    n_answers: int
    n_without_value: int
    alike: Estimate | Undefined
    prevalence: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSpread:
    """How the labels of one unit are spread; a distribution is the finding, and no label is made of it.

    Attributes:
        dialogue: Number of the dialogue.
        turn: Number of the turn; None for the dialogue as a whole.
        counts: Label to how many gave it; counts.
    """

    dialogue: int
    turn: int | None
    counts: tuple[tuple[str, int], ...]

    @property
    def n(self) -> int:
        """Labels; count."""
        return sum(n for _, n in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPasses:
    """Sample that estimates a mean with the required precision, for a number of passes.

    Attributes:
        passes: Annotators for each dialogue; count.
        n_dialogues: Dialogues; count.
        n_annotations: Annotations in all; count.
    """

    passes: int
    n_dialogues: int
    n_annotations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """How far the raters of a group agree with each other and with the rest.

    Attributes:
        group: Name of the group.
        n_raters: Raters in it; count.
        within: Agreement beyond chance among them (IRR, Krippendorff's alpha).
        across: Agreement beyond chance with all others (XRR).
        ratio: Within over across (GAI); above 1 the group has its own view.
            None if one is undefined or across is not above 0.
        p_value: Probability of a ratio as far from the middle if groups were
            made of raters at random; None if there is no ratio.
        adjusted_p_value: The same, adjusted for all groups.
    """

    group: str
    n_raters: int
    within: Estimate | Undefined
    across: Estimate | Undefined
    ratio: float | None
    p_value: float | None
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDefects:
    """Defect rates by group of annotators, so that no majority hides a group's view.

    Attributes:
        rule: Name of the defect rule.
        rates: Group and the share of its labels that are a defect, by name of the group.
        gap: Highest minus lowest rate; None with fewer than two of them.
        p_value: Probability of a gap as wide if groups were made of these people at random; None likewise.
        adjusted_p_value: The same, adjusted for all gaps of a run.
    """

    rule: str
    rates: tuple[tuple[str, Estimate | Undefined], ...]
    gap: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCheck:
    """Estimates of rater models for one annotator; a diagnosis, never a label.

    Attributes:
        annotator: Name of the annotator.
        labels: Labels that it gave to dialogues that others labelled too; count.
        fit: Fit of its labels to the values made likely by the others, beyond chance (Dawid and Skene).
        looks: Share of its labels that are no guess (MACE).
    """

    annotator: str
    labels: int
    fit: float
    looks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterChecks:
    """The annotators of one question about one application, as models of raters see them.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        dialogues: Dialogues with two labels or more; count.
        raters: One an annotator, in the order of the study.
    """

    application: str
    guideline: str
    question: str
    dialogues: int
    raters: tuple[RaterCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorGroups:
    """How far annotators of each self-described group agree, on one question about one application.

    Groups of very few people are counted and never named: a group of one is a person.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        attribute: Attribute that defines the groups.
        n_raters: Annotators with a known value of this attribute; count.
        n_unknown: Annotators without one; count.
        n_in_small: Of the known, those in groups too small to be named; count.
        groups: The others, by name.
        defects: How often they see a defect, a rule of the question each.
    """

    application: str
    guideline: str
    question: str
    attribute: str
    n_raters: int
    n_unknown: int
    n_in_small: int
    groups: tuple[GroupAgreement, ...]
    defects: tuple[GroupDefects, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteAdvice:
    """Effect of a judge's votes on a rate, compared with other uses of the same calls.

    Attributes:
        error: Standard error of the rate from these votes; fraction.
        error_as_samples: Standard error if each call had judged its own dialogue; fraction.
        samples_do_better: Whether more dialogues with fewer votes would make the rate more certain.
    """

    error: float
    error_as_samples: float
    samples_do_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRecord:
    """The votes of one judge on one application: cost and distribution.

    The question is that of the guideline's first defect rule.

    Attributes:
        voting: The rule by which it voted.
        dialogues: Dialogues with votes; count.
        cast: Votes in all; count.
        split: Labels of dialogues whose votes differ.
        tied: Labels of dialogues without a majority.
        flip_rate: Share of pairs of votes that contradict each other.
        retest_alpha: How far the judge agrees with itself beyond chance.
        by_single_votes: Defect rate that single readings give.
        by_majorities: Defect rate that majorities give; another number, drawn towards 0 or 1.
        advice: Effect of the same calls as further dialogues; None if unknown.
    """

    voting: Voting
    dialogues: int
    cast: int
    split: tuple[str, ...]
    tied: tuple[str, ...]
    flip_rate: Estimate | Undefined
    retest_alpha: Estimate | Undefined
    by_single_votes: Estimate | Undefined
    by_majorities: Estimate | Undefined
    advice: VoteAdvice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDiagnostics:
    """Behaviour of one judge on the dialogues of one application.

    Attributes:
        annotator: Name of the judge.
        application: Name of the application.
        guideline: Name of the guideline.
        verdicts: Annotations that it gave; count.
        quoting: Those that quote anything; count.
        ungrounded: Labels of dialogues with quotes that do not occur where it says.
        control_passed: Verdicts that answer the control question rightly; count.
        control_failed: Labels of dialogues whose control question was answered wrongly.
        control_unanswered: Verdicts that leave the control question out; count.
        answered_as: Names that the judge's endpoint gave itself; more than one is a change of instrument.
        scripted: Whether a script answered in place of a model.
        votes: How its votes fell; None if it reads each dialogue once.
    """

    annotator: str
    application: str
    guideline: str
    verdicts: int
    quoting: int = 0
    ungrounded: tuple[str, ...] = ()
    control_passed: int = 0
    control_failed: tuple[str, ...] = ()
    control_unanswered: int = 0
    answered_as: tuple[str, ...] = ()
    scripted: bool = False
    votes: VoteRecord | None = None


class InjectionSpot(StrEnum):
    """Position of an injection in a dialogue."""

    PROMPT = "prompt"
    RESPONSE = "response"
    SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionAttempt:
    """One kind of instruction to a judge.

    Attributes:
        name: Identifier, e.g. `plain-order`.
        spot: Side of the last turn, or source material, that it is added to.
        text: Text to add; `{label}`, `{question}`, `{verdict}` and `{mark}` are filled in.
        unseen: Whether it is written in letters that no reader sees.
    """

    name: str
    spot: InjectionSpot
    text: str
    unseen: bool = False


class InjectionEffect(StrEnum):
    """Effect of an injection on a verdict."""

    NONE = "none"
    TURNED = "turned"
    MOVED = "moved"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionTrial:
    """One dialogue judged with and without an injection.

    Attributes:
        dialogue: Label of the dialogue.
        cluster: Dialogues of one cluster resemble each other.
        attempt: Name of the injection.
        effect: What it did; `TURNED` where the verdict became a defect or ceased to
            be one, `MOVED` where it changed otherwise.
        caught: Whether the control question or a quote showed that something was wrong.
    """

    dialogue: str
    cluster: str
    attempt: str
    effect: InjectionEffect
    caught: bool = False
