import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.reporting.words import figures


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(95, 250, "95 of 250 (38.0%)"), (2, 6, "2 of 6"), (0, 9, "0 of 9"), (1, 10, "1 of 10 (10.0%)")],
)
def test_a_share_has_a_percentage_from_ten_units(part, whole, text):
    assert figures.share(part, whole) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0.0%"), (0.0001, "<0.1%"), (0.38, "38.0%"), (1, "100.0%"), (0.0005, "0.1%")]
)
def test_a_percentage_has_one_decimal_and_is_zero_only_without_defects(fraction, text):
    assert figures.percent(fraction) == text


@pytest.mark.parametrize(("value", "text"), [(0.89, ".89"), (-0.034, "-.03"), (1, "1.00"), (0, ".00")])
def test_a_coefficient_has_two_decimals_and_no_leading_zero(value, text):
    assert figures.coefficient(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(38, "0:38 min"), (0.2, "0:00 min"), (3600, "1:00 h"), (125, "2:05 min")]
)
def test_durations_are_minutes_and_seconds_until_they_are_hours(seconds, text):
    assert figures.duration(seconds) == text


def test_a_noun_agrees_with_its_number():
    assert [figures.number_of(n, "person", "people") for n in (1, 2)] == ["1 person", "2 people"]


@given(st.floats(min_value=0, max_value=1))
def test_no_percentage_has_more_than_one_decimal(fraction):
    assert len(figures.percent(fraction).removesuffix("%").split(".")[1]) == 1


def test_a_rounded_zero_has_no_sign():
    assert (figures.coefficient(-1e-15), figures.percent(-1e-9), figures.coefficient(-0.4)) == (".00", "0.0%", "-.40")
