from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, guideline, question, turn, verdict

from theodolite.assessment.judge.verdict import read_verdict
from theodolite.domain.annotation import Outcome
from theodolite.domain.instrument import Condition, Operator, QuestionLevel

YES = Condition(question="label", operator=Operator.EQUAL, values=("yes",))
SAID = dialogue(turn(1), turn(2))
TURN = QuestionLevel.TURN


def read(asked, **given):
    answers = read_verdict(verdict(**given), asked, SAID).answers
    return [(answer.turn, answer.outcome, answer.value) for answer in answers if answer.question == "next"]


@pytest.mark.parametrize(
    ("label", "given", "outcome", "value"),
    [
        ("yes", "no", Outcome.ANSWERED, "no"),
        ("yes", None, Outcome.UNPARSEABLE, None),
        ("no", None, Outcome.NOT_APPLICABLE, None),
        ("no", "yes", Outcome.NOT_APPLICABLE, None),
        ("unable to determine", None, Outcome.NOT_APPLICABLE, None),
        ("perhaps", "yes", Outcome.UNPARSEABLE, None),
    ],
)
def test_a_follow_up_counts_only_where_it_was_opened(label, given, outcome, value):
    asked = guideline(question("label", may_be_unable=True), question("next", when=YES))

    assert read(asked, label=label, next=given) == [(None, outcome, value)]


def test_at_turns_each_turn_opens_its_own():
    asked = guideline(question("label", level=TURN), question("next", level=TURN, when=YES))

    assert read(asked, label=["yes", "no"], next=["no", None]) == [
        (1, Outcome.ANSWERED, "no"),
        (2, Outcome.NOT_APPLICABLE, None),
    ]


@pytest.mark.parametrize(
    ("labels", "outcome"), [(["no", "yes"], Outcome.ANSWERED), (["no", "no"], Outcome.NOT_APPLICABLE)]
)
def test_any_turn_opens_what_is_asked_about_the_dialogue(labels, outcome):
    asked = guideline(question("label", level=TURN), question("next", when=YES))

    assert [found for _, found, _ in read(asked, label=labels, next="yes")] == [outcome]


def test_the_dialogue_opens_what_is_asked_at_every_turn():
    asked = guideline(question("label"), question("next", level=TURN, when=YES))

    assert [value for _, _, value in read(asked, label="yes", next=["yes", "no"])] == ["yes", "no"]
