from __future__ import annotations

import pytest
from tests.fakes.builders import NUMBERS, categories, question

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import YES_NO, Condition, Instrument, Label, Operator, Scale, ScaleKind


def test_numbers_are_ordered_points():
    assert NUMBERS.categories == ("1", "2", "3", "4", "5")
    assert NUMBERS.is_numeric


def test_labels_preserve_their_written_order():
    assert categories("b", "a").categories == ("b", "a")


@pytest.mark.parametrize(
    ("scale", "value", "admitted"),
    [
        (NUMBERS, "1", True),
        (NUMBERS, "0", False),
        (NUMBERS, "01", False),
        (NUMBERS, " 1", False),
        (YES_NO, "yes", True),
        (YES_NO, "Yes", False),
        (Scale(kind=ScaleKind.TEXT), "anything", True),
    ],
)
def test_a_scale_accepts_its_points_only(scale, value, admitted):
    assert scale.admits(value) is admitted


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": ScaleKind.CATEGORIES},
        {"kind": ScaleKind.CATEGORIES, "labels": (Label(value="a"),)},
        {"kind": ScaleKind.CATEGORIES, "labels": (Label(value="a"), Label(value="b"), Label(value="a"))},
        {"kind": ScaleKind.NUMBERS},
        {"kind": ScaleKind.NUMBERS, "lowest": 1},
        {"kind": ScaleKind.NUMBERS, "lowest": 3, "highest": 3},
        {"kind": ScaleKind.NUMBERS, "lowest": 5, "highest": 1},
    ],
)
def test_a_scale_with_indistinguishable_points_is_refused(parts):
    with pytest.raises(InputError):
        Scale(**parts)


def test_duplicate_question_names_are_refused():
    with pytest.raises(InputError, match="two questions"):
        Instrument(name="i", questions=(question("a"), question("a")))


def test_a_question_is_found_by_its_name():
    instrument = Instrument(name="i", questions=(question("a"), question("b")))

    assert instrument.question("b").name == "b"
    with pytest.raises(InputError, match="no question `c`"):
        instrument.question("c")


DECIMALS = Scale(kind=ScaleKind.DECIMALS, lowest=0, highest=1, ordered=True)


@pytest.mark.parametrize(
    ("value", "is_admitted"),
    [
        *((value, True) for value in ("0", "0.25", "1", "1e-3")),
        *((value, False) for value in ("1.01", "-0.1", "nan", "")),
    ],
)
def test_a_decimal_scale_accepts_every_number_between_its_ends(value, is_admitted):
    assert DECIMALS.admits(value) is is_admitted
    assert DECIMALS.categories == ()


@pytest.mark.parametrize(
    ("operator", "limit", "value", "holds"),
    [
        (Operator.ABOVE, "0.5", "0.51", True),
        (Operator.ABOVE, "0.5", "0.5", False),
        (Operator.AT_MOST, "0.5", "0.50", True),
        (Operator.EQUAL, "1", "1.0", True),
        (Operator.UNEQUAL, "1", "1.0", False),
        (Operator.BELOW, "1", "9e-1", True),
    ],
)
def test_conditions_compare_decimals_as_numbers(operator, limit, value, holds):
    condition = Condition(question="score", operator=operator, values=(limit,))

    assert condition.holds(value, DECIMALS) is holds


def test_a_decimal_scale_has_increasing_ends():
    with pytest.raises(InputError, match="`lowest` below `highest`"):
        Scale(kind=ScaleKind.DECIMALS, lowest=1, highest=1)


@pytest.mark.parametrize(
    ("scale", "written", "point"),
    [
        (NUMBERS, "3.0", "3"),
        (NUMBERS, "3", "3"),
        (NUMBERS, "3.5", None),
        (NUMBERS, "03", None),
        (NUMBERS, "9.0", None),
        (categories("1", "2"), "2.0", "2"),
        (categories("Good", "Poor"), "good", "Good"),
        (categories("good", "Good"), "GOOD", None),
        (categories("good", "Good"), "Good", "Good"),
        (categories("true", "false"), "True", "true"),
        (YES_NO, "TRUE", "yes"),
        (YES_NO, "false", "no"),
        (YES_NO, "y", None),
        (categories("yes", "partly", "no"), "True", "yes"),
        (categories("safe", "unsafe"), "True", None),
        (Scale(kind=ScaleKind.DECIMALS, lowest=0, highest=1), "0.50", "0.50"),
        (Scale(kind=ScaleKind.TEXT), "Any words.", "Any words."),
    ],
)
def test_a_text_matches_the_point_it_equals(scale, written, point):
    assert scale.matched(written) == point
