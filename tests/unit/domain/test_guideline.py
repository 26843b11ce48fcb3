from __future__ import annotations

import pytest
from tests.fakes.builders import NUMBERS, categories, guideline, question, rule

from theodolite.domain.errors import InputError
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Instrument, Operator, Scale, ScaleKind

ORDERED = categories("low", "middle", "high", ordered=True)
NAMES = categories("red", "green", "blue")
TEXT = Scale(kind=ScaleKind.TEXT)
WIDE = Scale(kind=ScaleKind.NUMBERS, lowest=-1, highest=10)


@pytest.mark.parametrize(
    ("operator", "limits", "scale", "defects"),
    [
        (Operator.EQUAL, ["3"], NUMBERS, "3"),
        (Operator.UNEQUAL, ["3"], NUMBERS, "1 2 4 5"),
        (Operator.BELOW, ["3"], NUMBERS, "1 2"),
        (Operator.AT_MOST, ["3"], NUMBERS, "1 2 3"),
        (Operator.ABOVE, ["3"], NUMBERS, "4 5"),
        (Operator.AT_LEAST, ["3"], NUMBERS, "3 4 5"),
        (Operator.ONE_OF, ["1", "5"], NUMBERS, "1 5"),
        (Operator.AT_MOST, ["2"], WIDE, "-1 0 1 2"),
        (Operator.ABOVE, ["9"], WIDE, "10"),
        (Operator.EQUAL, ["low"], ORDERED, "low"),
        (Operator.UNEQUAL, ["low"], ORDERED, "middle high"),
        (Operator.BELOW, ["high"], ORDERED, "low middle"),
        (Operator.AT_MOST, ["low"], ORDERED, "low"),
        (Operator.ABOVE, ["high"], ORDERED, ""),
        (Operator.AT_LEAST, ["low"], ORDERED, "low middle high"),
        (Operator.ONE_OF, ["low", "high"], ORDERED, "low high"),
        (Operator.EQUAL, ["red"], NAMES, "red"),
        (Operator.UNEQUAL, ["red"], NAMES, "green blue"),
        (Operator.ONE_OF, ["blue", "red"], NAMES, "red blue"),
    ],
)
def test_an_operator_picks_the_defects_of_a_scale(operator, limits, scale, defects):
    decides = rule(operator, *limits)

    assert [value for value in scale.categories if decides.is_defect(value, scale)] == defects.split()


@pytest.mark.parametrize(
    ("operator", "limit", "said", "is_defect"),
    [
        (Operator.EQUAL, "bad", "bad", True),
        (Operator.EQUAL, "bad", "good", False),
        (Operator.UNEQUAL, "good", "anything", True),
        (Operator.ONE_OF, "bad", "bad", True),
    ],
)
def test_free_text_is_compared_character_by_character(operator, limit, said, is_defect):
    assert rule(operator, limit).is_defect(said, TEXT) is is_defect


@pytest.mark.parametrize("scale", [NAMES, TEXT])
@pytest.mark.parametrize("operator", [operator for operator in Operator if operator.needs_order])
def test_unordered_scales_have_no_order(operator, scale):
    with pytest.raises(InputError, match="ordered scale"):
        rule(operator, "red").is_defect("red", scale)


def test_a_threshold_outside_the_scale_is_refused():
    with pytest.raises(InputError, match="label <= 7"):
        rule(Operator.AT_MOST, "7").is_defect("3", NUMBERS)


@pytest.mark.parametrize(("value", "scale"), [("6", NUMBERS), ("3.0", NUMBERS), ("Red", NAMES), ("", ORDERED)])
def test_a_value_outside_the_scale_is_neither_a_defect_nor_a_non_defect(value, scale):
    with pytest.raises(InputError, match="not a point of the scale"):
        rule(Operator.EQUAL, "red").is_defect(value, scale)


@pytest.mark.parametrize(
    ("among", "groups", "applies"),
    [
        ({}, {}, True),
        ({}, {"kind": "safe"}, True),
        ({"kind": "safe"}, {"kind": "safe", "type": "x"}, True),
        ({"kind": "safe"}, {"kind": "unsafe"}, False),
        ({"kind": "safe"}, {}, False),
        ({"kind": "safe", "type": "x"}, {"kind": "safe", "type": "y"}, False),
    ],
)
def test_a_rule_applies_only_to_the_groups_it_names(among, groups, applies):
    assert rule(among=among).applies_to(groups) is applies


@pytest.mark.parametrize(
    ("operator", "values", "words"),
    [
        (Operator.AT_MOST, ["3"], "label <= 3"),
        (Operator.ONE_OF, ["a", "b"], "label in a, b"),
        (Operator.UNEQUAL, ["no"], "label != no"),
    ],
)
def test_a_rule_is_displayed_as_written(operator, values, words):
    assert rule(operator, *values).condition == words


@pytest.mark.parametrize(
    ("operator", "values"),
    [(Operator.EQUAL, ()), (Operator.EQUAL, ("a", "b")), (Operator.BELOW, ("1", "2")), (Operator.ONE_OF, ())],
)
def test_a_rule_with_too_few_or_too_many_values_is_refused(operator, values):
    with pytest.raises(InputError, match="needs one value"):
        DefectRule(name="r", question="label", operator=operator, values=values)


def test_a_rule_has_no_operator_by_default():
    with pytest.raises(TypeError, match="operator"):
        DefectRule(name="r", question="label", values=("yes",))


def test_a_guideline_with_a_rule_about_an_unknown_question_is_refused():
    with pytest.raises(InputError, match="no question `mood`"):
        guideline(rules=[rule(question="mood")])


def test_a_guideline_without_a_rule_is_refused():
    instrument = Instrument(name="polite", questions=(question(),))

    with pytest.raises(InputError, match="one defect rule at least"):
        Guideline(name="polite", instrument=instrument, defect_rules=())


def test_the_first_rule_names_the_question_of_a_guideline():
    asked = guideline(question("one"), question("two"), rules=[rule(question="two")])

    assert asked.question.name == "two"
