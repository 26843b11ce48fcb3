"""Promotion: a judge that is beside people in the queue, after validation against people."""

from __future__ import annotations

from dataclasses import dataclass, field

from theodolite.domain.estimate import ValidationReport
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.identity import digest

_MODEL = "model/"


def judge_key(judge: str) -> str:
    """Return the key under which a promoted judge takes passes, so that it can never be mistaken for a person.

    Example:
        >>> judge_key("safety")
        'model/safety'
    """
    return _MODEL + judge


def is_model(participant: str) -> bool:
    """Return whether a pass under this key is a judge's; keys of people hold no such mark."""
    return participant.startswith(_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The recorded decision that a judge's passes are shown beside people's as more than a shadow.

    It belongs to one version of the judge and of the guideline. Each answer of a promoted
    judge stays marked as a model's.

    Attributes:
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        guideline: Name of the guideline.
        guideline_version: Content hash of the guideline.
        validation_report: Content hash of the validation report that it rests on.
        by: Who decided.
        reason: Why, in their words.
        number: Which promotion of this version it is, from 1.
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
        """Return the hash under which the promotions of one version of a judge are filed."""
        return digest("promotion", judge_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demotion:
    """The recorded decision that a judge is a shadow again; filed beside the promotion that it ends.

    Attributes:
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        by: Who decided.
        reason: Why, in their words.
        number: Which promotion of this version it ends, from 1.
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
        alike: Share of people's answers that the judge gave too.
        alpha: Agreement beyond chance of the judge with them.
        people: Agreement beyond chance of people with each other, on all that they answered.
    """

    question: str
    n_people: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    people: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStanding:
    """State of one judge of a queue's study: shadow or promoted, with the evidence.

    Attributes:
        judge: Name of the judge in the study.
        guideline: Name of the guideline.
        version: Content hash of the judge with its guideline and its model.
        validation_report: The latest one of this very version; None without one.
        promotion: The promotion that holds; None for a shadow.
        past: Decisions about this version, in order.
        n_read: Dialogues of the queue that it has read in a run; count.
        n_passes: Passes of the queue that it holds; count.
    """

    judge: str
    guideline: str
    version: str
    validation_report: ValidationReport | None = None
    promotion: Promotion | None = None
    past: tuple[Promotion | Demotion, ...] = ()
    n_read: int = 0
    n_passes: int = 0
