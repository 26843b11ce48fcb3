"""Laws of precision, recall, F1, unanimity and majorities."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Undefined
from theodolite.measurement.agreement import classification_report, exact_agreement, majority_labels, unanimity

OF_CLASSIFICATION = {"classification_report", "majority_labels", "unanimity"}
"""Measures whose laws stand here."""

SCALE = ("a", "b", "c")
LABELS = st.sampled_from((*SCALE, None))
PAIRS = st.lists(st.tuples(LABELS, LABELS), max_size=25)
UNITS = st.lists(st.tuples(LABELS, LABELS, LABELS), max_size=20)
FEW = settings(deadline=None, max_examples=60)


def columns(units, n=2):
    return [[unit[place] for unit in units] for place in range(n)]


def report_of(pairs):
    return classification_report(*columns(pairs), categories=SCALE)


def numbers(report):
    scores = [report.macro_f1, *(one.f1 for one in report.classes)]
    return [None if isinstance(one, Undefined) else (one.value, one.low, one.high, one.n) for one in scores]


@given(data=st.data())
@FEW
def test_the_order_of_units_does_not_matter(data):
    pairs = data.draw(PAIRS)
    shuffled = data.draw(st.permutations(pairs))

    for one, other in zip(numbers(report_of(pairs)), numbers(report_of(shuffled)), strict=True):
        assert one == other or one == pytest.approx(other)


@given(pairs=PAIRS)
@FEW
def test_swapping_the_sides_swaps_precision_and_recall_and_preserves_f1(pairs):
    plain, turned = report_of(pairs), report_of([(second, first) for first, second in pairs])

    for one, other in zip(plain.classes, turned.classes, strict=True):
        assert getattr(one.precision, "value", None) == getattr(other.recall, "value", None)
        assert getattr(one.f1, "value", None) == getattr(other.f1, "value", None)


@given(pairs=PAIRS)
@FEW
def test_every_value_is_in_its_interval_of_positive_width(pairs):
    report = report_of(pairs)
    shares = [share for one in report.classes for share in (one.precision, one.recall, one.f1)]

    for one in [report.macro_f1, *shares]:
        assert isinstance(one, Undefined) or (0 <= one.low <= one.value <= one.high <= 1 and one.low < one.high)


@given(pairs=PAIRS, lonely=st.lists(st.sampled_from([(None, "a"), ("b", None), (None, None)]), max_size=4))
@FEW
def test_units_without_one_label_do_not_matter(pairs, lonely):
    assert numbers(report_of(pairs)) == numbers(report_of(pairs + lonely))


@given(units=UNITS, data=st.data())
@FEW
def test_the_order_of_annotators_does_not_matter(units, data):
    order = data.draw(st.permutations(range(3)))
    turned = [columns(units, 3)[place] for place in order]

    plain, again = unanimity(columns(units, 3)), unanimity(turned)
    if isinstance(plain, Undefined):
        assert again == plain
    else:  # sums of products in another order differ by rounding
        assert replace(again, chance=None) == replace(plain, chance=None)
        assert again.chance == pytest.approx(plain.chance)
    assert majority_labels(columns(units, 3)) == majority_labels(turned)


@given(units=UNITS)
@FEW
def test_three_annotators_agree_no_more_often_than_any_two_of_them(units):
    whole = [unit for unit in units if None not in unit]
    rows = columns(whole, 3)
    together = unanimity(rows)

    pairs = [exact_agreement(rows[0], rows[1]), exact_agreement(rows[1], rows[2])]

    assert isinstance(together, Undefined) or all(together.value <= pair.value for pair in pairs)


@given(units=UNITS)
@FEW
def test_a_majority_is_one_of_the_labels_of_its_unit(units):
    for unit, label in zip(units, majority_labels(columns(units, 3)), strict=True):
        assert label is None or unit.count(label) == max(unit.count(other) for other in SCALE)
