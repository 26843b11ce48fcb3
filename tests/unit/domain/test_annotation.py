from __future__ import annotations

import pytest

from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.errors import InputError


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.ANSWERED])
def test_only_an_answer_carries_a_value(outcome):
    assert Answer(question="q", outcome=outcome).value is None
    with pytest.raises(InputError, match="only an `answered` answer"):
        Answer(question="q", outcome=outcome, value="yes")


def test_an_answer_without_a_value_is_refused():
    with pytest.raises(InputError, match="value=None"):
        Answer(question="q", outcome=Outcome.ANSWERED)


def test_an_empty_text_is_a_value():
    assert Answer(question="q", outcome=Outcome.ANSWERED, value="").value == ""


def test_an_answer_about_the_dialogue_differs_from_an_answer_about_a_turn():
    of_turn = Answer(question="q", outcome=Outcome.ANSWERED, value="no", turn=1)
    of_dialogue = Answer(question="q", outcome=Outcome.ANSWERED, value="yes")
    given = Annotation(
        unit="u",
        dialogue="d",
        annotator="a",
        annotator_version="v",
        guideline="g",
        instrument_version="i",
        answers=(of_turn, of_dialogue),
    )

    assert given.answer("q") is of_dialogue
    assert given.answer("other") is None
