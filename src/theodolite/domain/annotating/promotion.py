"""Promotion: a judge annotates alongside people in the queue after its validation against people."""

from __future__ import annotations

from dataclasses import dataclass, field

from theodolite.domain.estimate import ValidationReport
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.identity import digest

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
class JudgeStanding:
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
