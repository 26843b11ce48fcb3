from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, guideline, question, turn

from theodolite.assessment.ruling import by_words
from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import Side, WordRule
from theodolite.domain.instrument import QuestionLevel

SAID = dialogue(turn(1, "Please.", "Sorry, no."), turn(2, "Why?", "Sorry, but of course."))


def ruled(about=SAID, asked=None, **parts):
    rule = WordRule(**{"any_of": (), "then": "yes", "otherwise": "no", **parts})
    return [(each.question, each.turn, each.value) for each in by_words(rule, asked or guideline(), about)]


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        ({"any_of": ("sorry",)}, "yes"),
        ({"any_of": ("sorry",), "none_of": ("no",)}, "yes"),
        ({"any_of": ("sorry",), "none_of": ("no", "course")}, "no"),
        ({"any_of": ("please",)}, "no"),
        ({"any_of": ("please",), "where": Side.PROMPT}, "yes"),
        ({"any_of": ("please",), "where": Side.BOTH}, "yes"),
        ({"any_of": ("sorry",), "where": Side.PROMPT}, "no"),
        ({"none_of": ("sorry",)}, "no"),
        ({"none_of": ("thanks",)}, "yes"),
        ({"any_of": (r"^",)}, "yes"),
    ],
)
def test_a_turn_counts_that_has_wanted_words_and_no_unwanted_ones(parts, value):
    assert ruled(**parts) == [("label", None, value)]


def test_a_rule_answers_the_question_that_it_names():
    asked = guideline(question("first"), question("second"))

    assert ruled(asked=asked, any_of=("sorry",), question="second") == [("second", None, "yes")]


def test_a_question_about_turns_is_answered_at_each():
    asked = guideline(question(level=QuestionLevel.TURN))

    assert ruled(asked=asked, any_of=("course",)) == [("label", 1, "no"), ("label", 2, "yes")]


def test_withheld_words_are_not_looked_at():
    rule = WordRule(any_of=("x",), then="yes", otherwise="no")

    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "", "", withheld="licence")))

    assert answer.outcome is Outcome.MISSING
