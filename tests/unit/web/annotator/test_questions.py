"""A browser sends a question back: it becomes an answer, or is refused."""

from __future__ import annotations

import pytest
from tests.unit.web.annotator.test_annotation_page import DIALOGUE, GUIDELINE

from theodolite.domain.annotation import Outcome, Quote
from theodolite.web.annotator.annotation_page import annotation_page
from theodolite.web.annotator.questions import Unreadable, answer_in

SHEET = annotation_page(GUIDELINE, DIALOGUE, ())


def read(key, **sent):
    return answer_in({f"{name}:{key}": value for name, value in sent.items()}, SHEET.item(key), DIALOGUE)


def test_a_value_with_note_and_quote_is_read():
    answer = read("released@2", a="yes", note=" He says so. ", quotes="the tower he  dies\n\nthe tower he  dies")

    assert (answer.question, answer.turn, answer.outcome, answer.value) == ("released", 2, Outcome.ANSWERED, "yes")
    assert (answer.reasoning, answer.evidence) == (
        "He says so.",
        (Quote(turn=2, text="the tower he  dies", verified=True),),
    )


@pytest.mark.parametrize(
    ("quote", "turn", "verified"), [("I may not say.", 1, True), ("Please!", 2, True), ("never said", 2, False)]
)
def test_a_quote_is_looked_up_in_all_turns_and_what_stands_nowhere_is_not_verified(quote, turn, verified):
    [found] = read("released@2", a="yes", quotes=quote).evidence

    assert (found.turn, found.verified) == (turn, verified)


def test_a_way_out_has_no_value():
    answer = read("released@1", a="unable to determine")

    assert (answer.outcome, answer.value) == (Outcome.MISSING, None)


def test_nothing_chosen_is_no_answer():
    assert read("released@1", a="", note="thinking") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("released@1", "maybe"), ("released@1", "does not apply"), ("force@1", "11"), ("withheld", "unable to determine")],
)
def test_what_the_question_does_not_allow_is_refused(key, value):
    with pytest.raises(Unreadable, match="none of the choices"):
        read(key, a=value)
