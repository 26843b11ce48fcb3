from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, guideline, question, turn

from theodolite.assessment.annotating import by_words
from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import Side, TextCheck, WordRule
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
def test_a_turn_matches_with_required_words_and_without_excluded_ones(parts, value):
    assert ruled(**parts) == [("label", None, value)]


def test_a_rule_answers_the_question_it_names():
    asked = guideline(question("first"), question("second"))

    assert ruled(asked=asked, any_of=("sorry",), question="second") == [("second", None, "yes")]


def test_a_question_about_turns_is_answered_at_each():
    asked = guideline(question(level=QuestionLevel.TURN))

    assert ruled(asked=asked, any_of=("course",)) == [("label", 1, "no"), ("label", 2, "yes")]


def test_withheld_texts_are_not_searched():
    rule = WordRule(any_of=("x",), then="yes", otherwise="no")

    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "", "", withheld="licence")))

    assert answer.outcome is Outcome.MISSING


@pytest.mark.parametrize(
    ("check", "text", "response", "label"),
    [
        pytest.param(TextCheck.EQUALS, "30 days", " 30 days\n", "yes", id="equal but for blanks"),
        pytest.param(TextCheck.EQUALS, "30 days", "30 Days", "no", id="another case"),
        pytest.param(TextCheck.CONTAINS, "30 Days", "You have 30 days.", "yes", id="contained"),
        pytest.param(TextCheck.CONTAINS, "60 days", "You have 30 days.", "no", id="not contained"),
        pytest.param(TextCheck.NUMBER, "1,204.5", "about 1204.50 euros", "yes", id="equal number"),
        pytest.param(TextCheck.NUMBER, "12", "It is 120.", "no", id="part of a number"),
        pytest.param(TextCheck.NUMBER, "none", "It is 120.", "no", id="no number expected"),
        pytest.param(TextCheck.EQUALS, "{{ expected }} days", "7 days", "yes", id="expected answer within a text"),
        pytest.param(TextCheck.MATCHES, "^in {{ expected }} days?$", "In 7 days", "yes", id="expression"),
        pytest.param(TextCheck.MATCHES, "^7$", "In 7 days", "no", id="no match"),
        pytest.param(TextCheck.JSON_SCHEMA, '{"type": "integer"}', "7", "yes", id="schema"),
        pytest.param(TextCheck.JSON_SCHEMA, '{"type": "integer"}', "seven", "no", id="no JSON"),
    ],
)
def test_a_response_is_compared_with_a_text(check, text, response, label):
    rule = WordRule(any_of=(), then="yes", otherwise="no", check=check, text=text)
    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "Ask.", response)), expected="7")

    assert (answer.outcome, answer.value) == (Outcome.ANSWERED, label)


@pytest.mark.parametrize(
    ("tolerance", "response", "label"),
    [
        pytest.param("0.5", "about 7.5", "yes", id="on the limit"),
        pytest.param("0.5", "about 7.6", "no", id="beyond"),
        pytest.param("10%", "6.3", "yes", id="percent"),
        pytest.param("10 %", "6.2", "no", id="beyond percent"),
        pytest.param("", "7.0001", "no", id="none"),
    ],
)
def test_numbers_agree_within_a_tolerance(tolerance, response, label):
    rule = WordRule(
        any_of=(), then="yes", otherwise="no", check=TextCheck.NUMBER, text="{{ expected }}", tolerance=tolerance
    )
    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "Ask.", response)), expected="7")

    assert answer.value == label


def test_an_expected_answer_that_cannot_be_parsed_is_missing():
    rule = WordRule(any_of=(), then="yes", otherwise="no", check=TextCheck.MATCHES, text="{{ expected }}")
    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "Ask.", "x")), expected="(")

    assert answer.outcome is Outcome.MISSING
    assert "is not a regular expression" in answer.reasoning


def test_a_case_without_expected_answer_is_missing_rather_than_a_defect():
    rule = WordRule(any_of=(), then="yes", otherwise="no", check=TextCheck.EQUALS, text="{{expected}}")
    (answer,) = by_words(rule, guideline(), dialogue(turn(1, "Ask.", "30 days")))

    assert (answer.outcome, answer.value) == (Outcome.MISSING, None)
