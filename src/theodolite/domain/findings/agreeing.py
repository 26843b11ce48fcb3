"""Agreeing: how far people's annotation has come, and how far they say the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from theodolite.domain.findings.number import Estimate, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryProgress:
    """How far one category of a queue has come.

    Attributes:
        category: Name of the category.
        n_items: Dialogues in it; count.
        n_complete: Those with all passes, frozen ones included; count.
        n_frozen: Those under review or reviewed; count.
        n_aside: Those set aside by a case; count.
        n_passes: Passes wanted; count.
        n_done: Passes submitted; count.
        n_reserved: Passes that somebody is at; count.
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
    """The agreement on one question in one stretch of time.

    Attributes:
        begun: When its first unit was submitted first; UTC.
        ended: When its last unit was; UTC.
        alike: Share of units on which all said the same.
        alpha: Agreement beyond chance.
    """

    begun: datetime
    ended: datetime
    alike: Estimate | Undefined
    alpha: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAgreement:
    """How far people say the same to one question; a diagnosis, never a label.

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
    """How far two annotators say the same to one question.

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
    """What one annotator said to one question, and how often others said the same of the same units.

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
    """What it takes to know a mean as closely as wanted, with so many passes.

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
        ratio: Within over across (GAI); above 1 the group has a view of its own.
            None where one is undefined or across is not above 0.
        p_value: Probability of a ratio as far from the middle if groups were
            made of raters at random; None where there is no ratio.
        adjusted_p_value: The same for having looked at all groups.
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
    """How often each group of annotators sees a defect, so that no majority hides what a group sees.

    Attributes:
        rule: Name of the defect rule.
        rates: Group and the share of its labels that are a defect, by name of the group.
        gap: Highest minus lowest rate; None with fewer than two of them.
        p_value: Probability of a gap as wide if groups were made of these people at random; None likewise.
        adjusted_p_value: The same for having looked at all of a run's gaps.
    """

    rule: str
    rates: tuple[tuple[str, Estimate | Undefined], ...]
    gap: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCheck:
    """What models of raters make of one annotator; a diagnosis, never a label.

    Attributes:
        annotator: Name of the annotator.
        labels: Labels that it gave to dialogues that others labelled too; count.
        fit: How far its labels fit what the others make likely, beyond chance (Dawid and Skene).
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
        attribute: What the groups are told apart by.
        n_raters: People who labelled and are known by this attribute; count.
        n_unknown: People who labelled and are not; count.
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
