from __future__ import annotations

import pytest

from theodolite.config.questions import condition_problem, parse_condition, scale_to_domain
from theodolite.domain.instrument import Condition, Operator, Orientation, Scale, ScaleKind

FIVE = scale_to_domain("1-5", Orientation.UNSTATED)
LABELS = scale_to_domain(["a", "b", "not a"], Orientation.UNSTATED)
ORDERED = scale_to_domain(["good", "fair", "bad"], Orientation.HIGHER_IS_WORSE)


@pytest.mark.parametrize(
    ("text", "question", "operator", "values"),
    [
        ("<= 3", "", Operator.AT_MOST, ("3",)),
        ("score<=3", "score", Operator.AT_MOST, ("3",)),
        ("== partly refused", "", Operator.EQUAL, ("partly refused",)),
        ("in a, not a", "", Operator.ONE_OF, ("a", "not a")),
        ("label in a", "label", Operator.ONE_OF, ("a",)),
        ("!= 'no'", "", Operator.UNEQUAL, ("no",)),
    ],
)
def test_a_rule_is_parsed_as_written(text, question, operator, values):
    assert parse_condition(text) == Condition(question=question, operator=operator, values=values)


@pytest.mark.parametrize(
    ("text", "words"),
    [("refused", "names no operator"), ("= 3", "names no operator"), ("==", "says nothing"), ("=== 3", "not known")],
)
def test_a_malformed_rule_is_reported(text, words):
    assert words in parse_condition(text)


@pytest.mark.parametrize(
    ("text", "scale", "words"),
    [
        ("<= 3", FIVE, ""),
        ("in 1, 2", FIVE, ""),
        ("<= 7", FIVE, "the scale ends at 5, so all would be defects"),
        ("< 0", FIVE, "the scale begins at 1, so none could be a defect"),
        ("> 5", FIVE, "none could be a defect"),
        (">= 1", FIVE, "all would be defects"),
        ("== 6", FIVE, "the scale ends at 5, so none could be a defect"),
        ("in 5, 6", FIVE, "the scale ends at 5, so 6 is not a point of it"),
        ("<= 2.5", FIVE, "in whole numbers"),
        ("== a", LABELS, ""),
        ("<= a", LABELS, "no order"),
        ("== A", LABELS, "not a label"),
        ("in a, b, not a", LABELS, "all would be defects"),
        (">= fair", ORDERED, ""),
        (">= good", ORDERED, "all would be defects"),
        ("<= 3", scale_to_domain("text", Orientation.UNSTATED), "free text"),
    ],
)
def test_a_rule_must_match_its_scale(text, scale, words):
    condition = parse_condition(text)

    problem = condition_problem(condition, scale)

    assert (words in problem) if words else not problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [("> 0.5", ""), (">= 1", ""), ("> half", "`half` is not a number"), ("> 1.5", "`1.5` leaves the scale")],
)
def test_a_rule_on_decimals_names_a_number_of_the_scale(text, problem):
    decimals = Scale(kind=ScaleKind.DECIMALS, lowest=0, highest=1, ordered=True)

    found = condition_problem(parse_condition(text), decimals)

    assert found.startswith(problem)
    assert bool(found) == bool(problem)
