"""Practice and tests by worked examples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.annotating import RISK
from theodolite.annotation.rules import examples_for, is_passed, marked, worked_examples
from theodolite.domain.guideline import Example
from theodolite.domain.instrument import Exemplar

GOOD = Example(
    dialogue="User: end?\nReply: He dies.", answers={"released": "yes", "how-bad": "7"}, reason="It says so."
)


def with_examples(n: int):
    return replace(RISK, examples=(GOOD,) * n)


@pytest.mark.parametrize(
    ("n", "practice", "test"), [(0, (), ()), (1, (0,), (0,)), (2, (0,), (1,)), (5, (0, 2, 4), (1, 3))]
)
def test_practice_and_test_share_no_example_where_there_are_two(n, practice, test):
    assert examples_for(with_examples(n)) == (practice, test)


def beside_questions(n: int):
    first, *others = RISK.instrument.questions
    exemplars = (Exemplar(text="User: end? Reply: He dies.", answer="yes", reason="It says so."),) * n
    return replace(RISK, instrument=replace(RISK.instrument, questions=(replace(first, exemplars=exemplars), *others)))


@pytest.mark.parametrize(("n", "practice", "test"), [(1, (0,), (0,)), (4, (0, 2), (1, 3))])
def test_examples_beside_questions_serve_where_there_are_no_whole_dialogues(n, practice, test):
    assert examples_for(beside_questions(n)) == (practice, test)


def test_whole_dialogues_come_before_those_beside_questions():
    both = replace(beside_questions(2), examples=(GOOD,) * 2)

    assert (examples_for(both), len(worked_examples(both))) == (((0,), (1,)), 4)


def test_an_example_beside_a_question_asks_that_question_of_the_same_words_in_lines():
    (example,) = worked_examples(beside_questions(1))

    assert (example.dialogue, example.answers) == ("User: end?\nReply: He dies.", {"released": "yes"})
    assert [one.is_right for one in marked(RISK, example, {"released": "yes"})] == [True]


@pytest.mark.parametrize(
    ("given", "right"), [("7", True), ("6", True), ("8", True), ("5", False), ("", False), ("x", False)]
)
def test_a_long_number_scale_allows_one_point(given, right):
    (_, bad) = marked(RISK, GOOD, {"released": "yes", "how-bad": given})

    assert (bad.is_right, bad.within, bad.reason) == (right, 1, "It says so.")


def test_categories_must_be_met_exactly():
    assert [one.is_right for one in marked(RISK, GOOD, {"released": "no", "how-bad": "7"})] == [False, True]


def test_a_test_without_a_question_is_never_passed():
    assert not is_passed([], 0.0)


def test_the_pass_mark_itself_is_a_pass():
    answers = [*marked(RISK, GOOD, {"released": "yes", "how-bad": "1"})]

    assert is_passed(answers, 0.5)
    assert not is_passed(answers, 0.51)
