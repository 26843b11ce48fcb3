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
from theodolite.web.questions import field_name, instrument_form, parse_form

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


def test_nothing_is_preselected():
    form = instrument_form(ALL, (), (1, 2))

    assert not any(option.is_chosen for field in form.fields for option in field.options)
    assert {field.text for field in form.fields} == {""}


def test_follow_ups_are_in_the_form_and_not_asked():
    form = instrument_form(ALL, (), (1, 2))

    assert [field.name for field in form.fields if not field.is_asked] == ["a:far"]
    assert form.n_open == 4


def test_answered_options_are_selected_again():
    unable = Answer(question="seen", outcome=Outcome.MISSING)
    form = instrument_form(ALL, (unable, said("kinds", "rude"), said("tone", "3", 2)), (1, 2))
    chosen = [(field.name, option.value) for field in form.fields for option in field.options if option.is_chosen]

    assert chosen == [("a:seen", UNABLE), ("a:kinds", "rude"), ("a:tone@2", "3")]


def test_open_questions_are_errors_after_a_check():
    form = instrument_form(ALL, (said("seen", "yes"),), is_checked=True)

    assert [field.ref.question for field in form.problems] == ["far", "kinds"]
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
def test_submitted_values_are_read_as_far_as_the_questions_allow(sent, answers):
    read = parse_form(ALL, QueryDict(sent), (1, 2)).answers

    assert [(each.question, each.turn, (each.value or "").strip(), each.outcome) for each in read] == [
        (each.question, each.turn, (each.value or "").strip(), each.outcome) for each in answers
    ]


def test_an_invalid_number_is_an_error_of_its_field_after_submission():
    share = Scale(kind=ScaleKind.DECIMALS, lowest=0, highest=1)
    instrument = Instrument(name="i", questions=(Question(name="share", text="Which share?", scale=share),))
    parsed = parse_form(instrument, QueryDict("a:share=half"))
    shown = instrument_form(instrument, parsed.answers, problems=parsed.problems)
    submitted = instrument_form(instrument, parsed.answers, problems=parsed.problems, is_checked=True)

    assert parsed.answers == ()
    assert [field.problem for field in shown.fields] == [""]
    assert [field.problem for field in submitted.fields] == ["A number from 0 to 1 is expected; “half” was entered."]


def test_fields_of_turns_contain_their_number():
    assert field_name(OpenQuestion(question="tone", turn=2), "x") == "x:tone@2"


def scale(*words, meaning=""):
    return Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=each, meaning=meaning) for each in words))


AGREE = scale("disagree", "neither", "agree")
OFTEN = scale("never", "at times", "often")


def blocks(*scales, **more):
    questions = tuple(
        Question(name=f"q{place}", text="How?", scale=each, may_be_unable=place in more.get("unable", ()))
        for place, each in enumerate(scales)
    )
    return instrument_form(Instrument(name="i", questions=questions), ()).blocks


def test_consecutive_questions_with_the_same_answers_form_a_matrix_in_their_order():
    found = blocks(AGREE, AGREE, OFTEN, OFTEN, AGREE, AGREE, AGREE)

    assert [len(block.fields) for block in found] == [2, 2, 3]
    assert [field.ref.question for block in found for field in block.fields] == [f"q{n}" for n in range(7)]
    assert found[0].heads == ("disagree", "neither", "agree")


@pytest.mark.parametrize(
    "each",
    [
        YES_NO,
        Scale(kind=ScaleKind.TEXT),
        Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10),
        scale("a", "b", "c", meaning="at length"),
        scale("a", "b", "c" * 40),
        scale(*"abcdefghij"),
    ],
    ids=["two answers", "text", "numbers", "meanings", "long words", "many answers"],
)
def test_questions_that_do_not_fit_the_columns_are_separate(each):
    assert [block.heads for block in blocks(each, each)] == [(), ()]


def test_a_single_question_is_not_a_matrix():
    assert [block.heads for block in blocks(AGREE, OFTEN)] == [(), ()]


def test_a_non_response_is_a_column_that_is_empty_where_it_is_not_offered():
    (block,) = blocks(AGREE, AGREE, unable={1})

    assert block.heads[3:] == ("Unable to determine",)
    assert [row.cells[3] and row.cells[3].value for row in block.rows] == [None, UNABLE]
    assert {len(row.cells) for row in block.rows} == {4}
