from __future__ import annotations

import pytest
from django.http import QueryDict

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.instrument import (
    UNABLE,
    YES_NO,
    Condition,
    Instrument,
    Label,
    OpenQuestion,
    Operator,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)
from theodolite.web.questions.form import field_name, instrument_form
from theodolite.web.questions.reading import read_answers

ENDS = (Label(value="1", meaning="little"), Label(value="10", meaning="all"))
TEN = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10, labels=ENDS)
KINDS = Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="rude"), Label(value="wrong")))
YES = Condition(question="seen", operator=Operator.EQUAL, values=("yes",))
ALL = Instrument(
    name="all",
    questions=(
        Question(name="seen", text="Was it seen?", scale=YES_NO, may_be_unable=True),
        Question(name="far", text="How far?", scale=TEN, when=YES),
        Question(name="kinds", text="Which kinds?", scale=KINDS, several=True),
        Question(name="why", text="Why?", scale=Scale(kind=ScaleKind.TEXT)),
        Question(name="tone", text="Which tone?", scale=TEN, level=QuestionLevel.TURN),
    ),
)


def said(question, value, turn=None):
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value, turn=turn)


def test_nothing_is_preset():
    form = instrument_form(ALL, (), (1, 2))

    assert not any(option.is_chosen for field in form.fields for option in field.options)
    assert {field.text for field in form.fields} == {""}


def test_follow_ups_stand_in_the_form_and_are_not_asked():
    form = instrument_form(ALL, (), (1, 2))

    assert [field.name for field in form.fields if not field.is_asked] == ["a:far"]
    assert form.n_open == 4


def test_what_was_answered_is_chosen_again():
    unable = Answer(question="seen", outcome=Outcome.MISSING)
    form = instrument_form(ALL, (unable, said("kinds", "rude"), said("tone", "3", 2)), (1, 2))
    chosen = [(field.name, option.value) for field in form.fields for option in field.options if option.is_chosen]

    assert chosen == [("a:seen", UNABLE), ("a:kinds", "rude"), ("a:tone@2", "3")]


def test_open_questions_are_problems_once_somebody_checks():
    form = instrument_form(ALL, (said("seen", "yes"),), is_checked=True)

    assert [field.place.question for field in form.problems] == ["far", "kinds"]
    assert form.focus == form.problems[0].tag


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        ("a:seen=yes&a:far=4", [said("seen", "yes"), said("far", "4")]),
        ("a:seen=no&a:far=4", [said("seen", "no")]),
        ("a:far=11&a:seen=yes", [said("seen", "yes")]),
        ("a:seen=unable to determine", [Answer(question="seen", outcome=Outcome.MISSING)]),
        ("a:kinds=wrong&a:kinds=rude&a:kinds=shy", [said("kinds", "wrong"), said("kinds", "rude")]),
        ("a:why=  because %00 ", [said("why", "because ")]),
        ("a:tone@2=7&a:tone@9=1&b:seen=yes", [said("tone", "7", 2)]),
        ("a:far=does not apply", []),
    ],
    ids=["plain", "closed", "off the scale", "unable", "several", "text", "turns", "not allowed here"],
)
def test_what_was_sent_is_read_as_far_as_the_questions_allow(sent, answers):
    read = read_answers(ALL, QueryDict(sent), (1, 2))

    assert [(each.question, each.turn, (each.value or "").strip(), each.outcome) for each in read] == [
        (each.question, each.turn, (each.value or "").strip(), each.outcome) for each in answers
    ]


def test_fields_of_turns_bear_their_number():
    assert field_name(OpenQuestion(question="tone", turn=2), "x") == "x:tone@2"
