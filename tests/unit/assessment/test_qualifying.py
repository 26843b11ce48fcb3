"""Practice and tests by worked examples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.annotating import RISK

from theodolite.assessment.qualifying import examples_for, is_passed, marked
from theodolite.domain.guideline import Example

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
