from __future__ import annotations

import json

import pytest
from tests.fakes.builders import NUMBERS, annotation_task, dialogue, guideline, question, turn
from tests.fakes.clients import held_by_hand

from theodolite.assessment.annotating import annotate
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator, PythonLabeller
from theodolite.domain.flow import AskFunction
from theodolite.domain.instrument import QuestionLevel

CLASSIFIER = Annotator(
    name="clf", kind=AnnotatorKind.MODEL, guideline="polite", labelling=PythonLabeller(target="m:f", version="1")
)
SAID = dialogue(turn(1, "a", "b"), turn(2, "c", "d"), context="facts")
TWO = guideline(question("label"), question("score", NUMBERS))


def labelled(returned, asked=None, about=SAID):
    return held_by_hand(
        annotate(annotation_task(CLASSIFIER, about, asked or guideline())), lambda _: json.dumps(returned)
    )


@pytest.mark.parametrize(
    ("returned", "outcome", "value"),
    [
        ("yes", Outcome.ANSWERED, "yes"),
        (True, Outcome.ANSWERED, "yes"),
        (False, Outcome.ANSWERED, "no"),
        ({"label": False}, Outcome.ANSWERED, "no"),
        (None, Outcome.MISSING, None),
        ({"label": None}, Outcome.MISSING, None),
        ({}, Outcome.UNPARSEABLE, None),
        ("Yes", Outcome.ANSWERED, "yes"),
        (0.93, Outcome.UNPARSEABLE, None),
        ([True], Outcome.UNPARSEABLE, None),
    ],
)
def test_the_return_value_of_a_function_is_parsed_as_strictly_as_a_verdict(returned, outcome, value):
    (answer,) = labelled(returned).result.answers

    assert (answer.outcome, answer.value) == (outcome, value)


def test_a_function_receives_the_question_and_the_dialogue():
    (asked,) = labelled(True).requests

    assert isinstance(asked, AskFunction)
    assert ([turn.response for turn in asked.turns], asked.context, asked.questions) == (
        ["b", "d"],
        "facts",
        ("label",),
    )


def test_a_function_may_give_reasons_and_quotes():
    held = labelled({"label": "yes", "score": 4, "reason": "p = 0.9", "quotes": [{"turn": 1, "text": "z"}]}, TWO)

    assert [answer.value for answer in held.result.answers] == ["yes", "4"]
    assert held.result.answers[0].reasoning == "p = 0.9"
    assert held.result.is_ungrounded


def test_a_function_may_label_each_turn():
    held = labelled([True, None], guideline(question(level=QuestionLevel.TURN)))

    assert [(answer.turn, answer.value) for answer in held.result.answers] == [(1, "yes"), (2, None)]


def test_withheld_texts_are_not_passed_to_a_function():
    held = labelled(True, about=dialogue(turn(1, "", "", withheld="licence")))

    assert held.requests == ()
    assert held.result.answers[0].outcome is Outcome.MISSING
