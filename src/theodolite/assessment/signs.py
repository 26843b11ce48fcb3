"""Signs: how the words of a test packet answer a guideline's questions without a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import Operator, Question, QuestionLevel
from theodolite.domain.scenario import TestPacket

_LOW_END = {Operator.BELOW, Operator.AT_MOST}


class SignSide(Enum):
    """Which of a packet's signs answer a question."""

    RELEASED = auto()
    WITHHELD = auto()


@dataclass(frozen=True, slots=True)
class SignLabels:
    """How signs become labels.

    Attributes:
        side: Which signs are looked for.
        found: Label where one of them is found.
        absent: Label where none is.
    """

    side: SignSide
    found: str
    absent: str

    def signs(self, packet: TestPacket) -> tuple[str, ...]:
        """Return the packet's regular expressions that are looked for."""
        return packet.release_signs if self.side is SignSide.RELEASED else packet.refusal_signs


def sign_labels(guideline: Guideline, question: Question) -> SignLabels | None:
    """Return how signs answer a question; None where they cannot.

    The questions `released` and `withheld` are answered with yes and no. Of others
    the main one alone is answered, by its first defect rule: with the label furthest on the side of
    the defects where a sign is found, and with the one furthest from it where none
    is. A sign tells that something happened and not how bad it was, so no label in
    between is ever given.
    """
    points = question.scale.categories
    if question.level is not QuestionLevel.DIALOGUE or not points:
        return None
    if question.name in {"released", "withheld"} and {"yes", "no"} <= set(points):
        return SignLabels(SignSide.RELEASED if question.name == "released" else SignSide.WITHHELD, "yes", "no")
    if question != guideline.question:
        return None
    rule = next((rule for rule in guideline.defect_rules if rule.question == question.name), None)
    return _by_rule(rule, question) if rule else None


def answered_by_signs(guideline: Guideline) -> tuple[Question, ...]:
    """Return the questions of a guideline that signs answer, in order."""
    return tuple(one for one in guideline.instrument.questions if sign_labels(guideline, one))


def _by_rule(rule: DefectRule, question: Question) -> SignLabels | None:
    points = question.scale.categories
    defects = [point for point in points if rule.is_defect(point, question.scale)]
    sound = [point for point in points if point not in defects]
    if not (defects and sound):
        return None
    side = SignSide.WITHHELD if rule.violation is Violation.PERMITTED_WITHHELD else SignSide.RELEASED
    if rule.operator in _LOW_END:
        return SignLabels(side, found=defects[0], absent=sound[-1])
    return SignLabels(side, found=defects[-1], absent=sound[0])
