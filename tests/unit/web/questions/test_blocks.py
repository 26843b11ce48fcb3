from __future__ import annotations

import pytest

from theodolite.domain.instrument import UNABLE, YES_NO, Instrument, Label, Question, Scale, ScaleKind
from theodolite.web.questions.form import instrument_form


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


def test_questions_with_the_same_answers_in_a_row_stand_in_one_matrix_in_their_order():
    found = blocks(AGREE, AGREE, OFTEN, OFTEN, AGREE, AGREE, AGREE)

    assert [len(block.fields) for block in found] == [2, 2, 3]
    assert [field.place.question for block in found for field in block.fields] == [f"q{n}" for n in range(7)]
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
def test_what_columns_do_not_serve_stands_by_itself(each):
    assert [block.heads for block in blocks(each, each)] == [(), ()]


def test_a_question_by_itself_is_no_matrix():
    assert [block.heads for block in blocks(AGREE, OFTEN)] == [(), ()]


def test_a_way_out_is_a_column_that_stays_empty_where_it_is_not_offered():
    (block,) = blocks(AGREE, AGREE, unable={1})

    assert block.heads[3:] == ("Unable to determine",)
    assert [row.cells[3] and row.cells[3].value for row in block.rows] == [None, UNABLE]
    assert {len(row.cells) for row in block.rows} == {4}
