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
        n_complete: Dialogues with all required annotations, including frozen ones; count.
        n_frozen: Dialogues under review or reviewed; count.
        n_aside: Dialogues set aside because of a case; count.
        n_passes: Required annotations; count.
        n_done: Submitted annotations; count.
        n_reserved: Reserved annotations; count.
        n_disputed: Dialogues with different answers; count.
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
class AgreementPeriod:
    """The agreement on one question in one period.

    Attributes:
        begun: Time of its first submission; UTC.
        ended: Time of its last submission; UTC.
        alike: Share of units with unanimous answers.
        alpha: Chance-corrected agreement.
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
        n_shared: Dialogues, or turns, whose latest label by two or more people is from this day; count.
        alpha: Chance-corrected agreement.
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
        n_shared: Units with answers of at least two people; count.
        n_without_value: Answers without a label: unable, does not apply; count.
        alike: Share of the shared units with identical labels.
        alpha: Krippendorff's alpha.
        prevalence: Frequency of each label; counts.
        over_time: The agreement in segments of equally many units, in order of time.
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
    over_time: tuple[AgreementPeriod, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two annotators on one question.

    Attributes:
        first: Name of the first.
        second: Name of the second; a model if `is_model`.
        question: Name of the question.
        alike: Share of identical labels among the units that both labelled.
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
    """An annotator's answers to one question, and the agreement of others on the same units.

    Attributes:
        annotator: Name of the annotator.
        n_answers: Answers; count.
        n_without_value: Answers without a label: unable, does not apply; count.
        alike: Share of others' labels that equal this annotator's, on the units that the annotator labelled.
        prevalence: Frequency of each label of the annotator; counts.
    """

    annotator: str
    n_answers: int
    n_without_value: int
    alike: Estimate | Undefined
    prevalence: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSpread:
    """The label distribution of one unit; the distribution itself is the finding and is not reduced to a label.

    Attributes:
        dialogue: Number of the dialogue.
        turn: Number of the turn; None for the dialogue as a whole.
        counts: Frequency of each label; counts.
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
    """Sample size that estimates a mean with the required precision, for a number of annotations per dialogue.

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
    """Agreement of the raters of a group with each other and with all others.

    Attributes:
        group: Name of the group.
        n_raters: Raters in the group; count.
        within: Chance-corrected agreement within the group (IRR, Krippendorff's alpha).
        across: Chance-corrected agreement with all others (XRR).
        ratio: Within over across (GAI); above 1 the group has its own view.
            None if one is undefined or across is not above 0.
        p_value: Probability of a ratio at least as extreme if groups
            consisted of random raters; None if there is no ratio.
        adjusted_p_value: The p-value, adjusted for all groups.
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
        rates: Group name to the share of its labels that are a defect, sorted by name.
        gap: Highest minus lowest rate; None with fewer than two rates.
        p_value: Probability of a gap at least as wide if groups consisted of random people; None likewise.
        adjusted_p_value: The p-value, adjusted for all gaps of a run.
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
        labels: Its labels of dialogues that others also labelled; count.
        fit: Agreement of its labels with the values inferred from the others, beyond chance (Dawid and Skene).
        looks: Share of its labels that are not guesses (MACE).
    """

    annotator: str
    labels: int
    fit: float
    looks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterChecks:
    """The annotators of one question about one application, under rater models.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        dialogues: Dialogues with at least two labels; count.
        raters: One entry per annotator, in the order of the study.
    """

    application: str
    guideline: str
    question: str
    dialogues: int
    raters: tuple[RaterCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorGroups:
    """Agreement of each self-described group of annotators, on one question about one application.

    Very small groups are counted but never named: a group of one identifies a person.

    Attributes:
        application: Name of the application.
        guideline: Name of the guideline.
        question: Name of the question.
        attribute: Attribute that defines the groups.
        n_raters: Annotators with a known value of this attribute; count.
        n_unknown: Annotators without a known value; count.
        n_in_small: Of the known, those in groups too small to name; count.
        groups: The others, by name.
        defects: Defect rates by group, one entry for each rule of the question.
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
        samples_do_better: Whether more dialogues with fewer votes would reduce the standard error.
    """

    error: float
    error_as_samples: float
    samples_do_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRecord:
    """The votes of one judge on one application: cost and distribution.

    The question is that of the guideline's first defect rule.

    Attributes:
        voting: The voting rule.
        dialogues: Dialogues with votes; count.
        cast: Total number of votes; count.
        split: Labels of dialogues whose votes differ.
        tied: Labels of dialogues without a majority.
        flip_rate: Share of pairs of votes that contradict each other.
        retest_alpha: Chance-corrected agreement of the judge with itself.
        by_single_votes: Defect rate according to single readings.
        by_majorities: Defect rate according to majorities; a different number, drawn towards 0 or 1.
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
        verdicts: Its annotations; count.
        quoting: Annotations with quotes; count.
        ungrounded: Labels of dialogues with quotes that the stated turn lacks.
        control_passed: Annotations that answer the control question correctly; count.
        control_failed: Labels of dialogues whose control question was answered wrongly.
        control_unanswered: Annotations without an answer to the control question; count.
        answered_as: Model names reported by the judge's endpoint; several names mean a change of instrument.
        scripted: Whether a script answered instead of a model.
        votes: Distribution of its votes; None if it reads each dialogue once.
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
    """A kind of instruction to a judge.

    Attributes:
        name: Identifier, e.g. `plain-order`.
        spot: Side of the last turn, or source material, to which it is added.
        text: Text to add; `{label}`, `{question}`, `{verdict}` and `{mark}` are filled in.
        unseen: Whether it is written in invisible characters.
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
        effect: Its effect; `TURNED` if the verdict became a defect or ceased to
            be one, `MOVED` if it changed otherwise.
        caught: Whether the control question or a quote revealed a problem.
    """

    dialogue: str
    cluster: str
    attempt: str
    effect: InjectionEffect
    caught: bool = False
