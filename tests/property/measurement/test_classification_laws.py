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
    return [[unit[index] for unit in units] for index in range(n)]


def report_of(pairs):
    return classification_report(*columns(pairs), categories=SCALE)


def numbers(report):
    scores = [report.macro_f1, *(item.f1 for item in report.classes)]
    return [None if isinstance(score, Undefined) else (score.value, score.low, score.high, score.n) for score in scores]


@given(data=st.data())
@FEW
def test_the_order_of_units_does_not_matter(data):
    pairs = data.draw(PAIRS)
    shuffled = data.draw(st.permutations(pairs))

    for item, other in zip(numbers(report_of(pairs)), numbers(report_of(shuffled)), strict=True):
        assert item == other or item == pytest.approx(other)


@given(pairs=PAIRS)
@FEW
def test_swapping_the_sides_swaps_precision_and_recall_and_preserves_f1(pairs):
    plain, turned = report_of(pairs), report_of([(second, first) for first, second in pairs])

    for item, other in zip(plain.classes, turned.classes, strict=True):
        assert getattr(item.precision, "value", None) == getattr(other.recall, "value", None)
        assert getattr(item.f1, "value", None) == getattr(other.f1, "value", None)


@given(pairs=PAIRS)
@FEW
def test_every_value_is_in_its_interval_of_positive_width(pairs):
    report = report_of(pairs)
    shares = [share for item in report.classes for share in (item.precision, item.recall, item.f1)]

    for item in [report.macro_f1, *shares]:
        assert isinstance(item, Undefined) or (0 <= item.low <= item.value <= item.high <= 1 and item.low < item.high)


@given(pairs=PAIRS, lonely=st.lists(st.sampled_from([(None, "a"), ("b", None), (None, None)]), max_size=4))
@FEW
def test_units_without_one_label_do_not_matter(pairs, lonely):
    assert numbers(report_of(pairs)) == numbers(report_of(pairs + lonely))


@given(units=UNITS, data=st.data())
@FEW
def test_the_order_of_annotators_does_not_matter(units, data):
    order = data.draw(st.permutations(range(3)))
    turned = [columns(units, 3)[index] for index in order]

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
