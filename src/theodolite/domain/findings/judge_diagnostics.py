"""Diagnostics of judges: how a judge went about its work, apart from what it found."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.annotator import Voting
from theodolite.domain.findings.number import Estimate, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteAdvice:
    """What a judge's votes did for a rate, and what the same calls would do elsewhere.

    Attributes:
        error: Standard error of the rate from these votes; fraction.
        error_as_samples: Standard error if each call had judged a dialogue of its own; fraction.
        samples_do_better: Whether more dialogues with fewer votes would make the rate more certain.
    """

    error: float
    error_as_samples: float
    samples_do_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRecord:
    """The votes of one judge on one application: what they cost and how they fell.

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
        advice: What the same calls would do as further dialogues; None where that cannot be told.
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
    """How one judge went about the dialogues of one application.

    Attributes:
        annotator: Name of the judge.
        application: Name of the application.
        guideline: Name of the guideline.
        verdicts: Annotations that it gave; count.
        quoting: Those that quote anything; count.
        ungrounded: Labels of dialogues of which it quotes words that do not stand where it says.
        control_passed: Verdicts that answer the control question rightly; count.
        control_failed: Labels of dialogues whose control question was answered wrongly.
        control_unanswered: Verdicts that leave the control question out; count.
        answered_as: Names that the judge's endpoint gave itself; more than one is a change of instrument.
        scripted: Whether a script answered in place of a model.
        votes: How its votes fell; None where it reads each dialogue once.
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
