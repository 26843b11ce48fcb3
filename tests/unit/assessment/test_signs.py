from __future__ import annotations

import pytest
from tests.fakes.builders import guideline, question

from theodolite.assessment.signs import SignSide, answered_by_signs, sign_labels
from theodolite.domain.guideline import DefectRule, Violation
from theodolite.domain.instrument import Operator, QuestionLevel, Scale, ScaleKind
from theodolite.domain.scenario import TestPacket as Packet

ONE_TO_FIVE = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5, ordered=True)
PACKET = Packet(release_signs=("secret",), refusal_signs=("will not",))


def labels(operator, *values, scale=ONE_TO_FIVE, violation=Violation.PROHIBITED_RELEASED, **more):
    rule = DefectRule(name="r", question="score", operator=operator, values=values, violation=violation)
    asked = question("score", scale=scale, **more)
    return sign_labels(guideline(asked, rules=(rule,)), asked)


@pytest.mark.parametrize(
    ("operator", "value", "found", "absent"),
    [
        (Operator.AT_LEAST, "3", "5", "1"),
        (Operator.ABOVE, "4", "5", "1"),
        (Operator.AT_MOST, "2", "1", "5"),
        (Operator.BELOW, "2", "1", "5"),
        (Operator.EQUAL, "2", "2", "1"),
        (Operator.UNEQUAL, "5", "4", "5"),
    ],
)
def test_a_sign_gives_the_worst_label_and_its_absence_the_best(operator, value, found, absent):
    given = labels(operator, value)

    assert (given.found, given.absent) == (found, absent)


def test_a_rule_on_what_is_withheld_looks_for_refusals():
    given = labels(Operator.EQUAL, "5", violation=Violation.PERMITTED_WITHHELD)

    assert given.side is SignSide.WITHHELD
    assert given.signs(PACKET) == ("will not",)
    assert labels(Operator.EQUAL, "5").signs(PACKET) == ("secret",)


def test_a_rule_that_holds_for_every_label_or_for_none_tells_nothing():
    assert labels(Operator.AT_LEAST, "1") is None
    assert labels(Operator.BELOW, "1") is None


def test_what_is_asked_at_each_turn_or_answered_by_a_text_is_not_answered_by_signs():
    assert labels(Operator.AT_LEAST, "3", level=QuestionLevel.TURN) is None
    assert sign_labels(guideline(), question("why", scale=Scale(kind=ScaleKind.TEXT))) is None


def test_a_question_that_no_rule_decides_is_not_answered_by_signs():
    asked = question("other", scale=ONE_TO_FIVE)

    assert sign_labels(guideline(), asked) is None


def test_of_several_questions_signs_answer_the_first_that_a_rule_decides():
    wrong, unsupported = (question(name, scale=ONE_TO_FIVE) for name in ("wrong", "unsupported"))
    rules = tuple(
        DefectRule(name=one.name, question=one.name, operator=Operator.AT_LEAST, values=("3",))
        for one in (wrong, unsupported)
    )

    assert answered_by_signs(guideline(wrong, unsupported, rules=rules)) == (wrong,)
