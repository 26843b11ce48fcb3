"""Laws of groups and models of raters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.domain.estimate import Undefined
from theodolite.measurement.probes import order_shift
from theodolite.measurement.proportion import pooled_defect_rate
from theodolite.measurement.rater_models import (
    cross_agreement,
    dawid_skene,
    defect_rates_by_group,
    group_agreement,
    mace,
)

OF_RATERS = {
    "cross_agreement",
    "dawid_skene",
    "defect_rates_by_group",
    "group_agreement",
    "mace",
    "order_shift",
    "pooled_defect_rate",
}
"""Measures whose laws stand here."""

FEW = settings(deadline=None, max_examples=25)
UNITS = st.lists(st.tuples(*[st.sampled_from(["y", "n", None])] * 6), min_size=1, max_size=15)
GROUPS = ["a", "a", "a", "b", "b", "b"]
ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.sampled_from("abc"), st.integers(1, 6)),
    min_size=4,
    max_size=30,
)


def rows(units):
    return [list(row) for row in zip(*units, strict=True)]


def same(one, other):
    if isinstance(one, Undefined):
        return type(one) is type(other)
    return (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)


def shift(answers):
    values, ways, annotators, dialogues = zip(*answers, strict=True)
    return order_shift(values, ways, annotators=annotators, dialogues=dialogues)


@given(units=UNITS)
@FEW
def test_agreement_across_groups_is_symmetric(units):
    table = rows(units)
    there = cross_agreement(table[:2], table[2:], categories="yn")

    assert same(there, cross_agreement(table[2:], table[:2], categories="yn"))
    assert isinstance(there, Undefined) or there.low <= there.value <= there.high <= 1.0


@given(units=UNITS, data=st.data())
@FEW
def test_the_order_of_units_and_raters_does_not_matter_to_groups(units, data):
    table, order = rows(units), data.draw(st.permutations(range(3)))
    shuffled = rows(data.draw(st.permutations(units)))
    moved = [shuffled[place] for place in (*order, 3, 4, 5)]

    one = group_agreement(table, GROUPS, categories="yn", draws=9)
    other = group_agreement(moved, GROUPS, categories="yn", draws=9)

    for before, after in zip(one, other, strict=True):
        assert same(before.within, after.within)
        assert same(before.across, after.across)
        assert before.ratio == pytest.approx(after.ratio) if before.ratio is not None else after.ratio is None


@given(units=UNITS)
@FEW
def test_groups_by_non_defects_mirror_those_by_defects(units):
    seen = [[None if label is None else label == "y" for label in row] for row in rows(units)]
    turned = [[None if x is None else not x for x in row] for row in seen]

    one, other = (defect_rates_by_group(table, GROUPS, draws=19) for table in (seen, turned))

    assert one.gap == pytest.approx(other.gap) if one.gap is not None else other.gap is None
    for name, rate in one.rates.items():
        assert isinstance(rate, Undefined) or rate.value == pytest.approx(1 - other.rates[name].value)
        assert isinstance(rate, Undefined) or 0.0 <= rate.low <= rate.value <= rate.high <= 1.0


@pytest.mark.parametrize("model", [dawid_skene, mace])
@given(units=UNITS.filter(lambda units: any(label for unit in units for label in unit)), data=st.data())
@FEW
def test_the_order_of_labels_does_not_matter_to_a_model(model, units, data):
    labels = [(unit, rater, label) for unit, row in enumerate(units) for rater, label in enumerate(row)]

    one = model(labels, categories="yn", most_rounds=20)
    other = model(data.draw(st.permutations(labels)), categories="yn", most_rounds=20)

    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)
    assert 0.0 <= min(one.prevalence) <= max(one.prevalence) <= 1.0


@given(answers=ANSWERS)
@FEW
def test_exchanging_the_orders_reverses_a_shift(answers):
    there, back = shift(answers), shift([(value, not way, *who) for value, way, *who in answers])

    if isinstance(there, Undefined):
        assert there == back
    else:
        assert (back.value, back.low, back.high) == pytest.approx((-there.value, -there.high, -there.low), abs=1e-9)
        assert (back.n, back.n_clusters) == (there.n, there.n_clusters)


@given(answers=ANSWERS, data=st.data())
@FEW
def test_the_order_of_answers_does_not_matter_to_a_shift(answers, data):
    assert same(shift(answers), shift(data.draw(st.permutations(answers))))


@given(
    labels=st.lists(st.tuples(st.integers(1, 6), st.sampled_from("abc"), st.booleans()), min_size=1, max_size=25),
    data=st.data(),
)
@FEW
def test_a_pooled_rate_is_in_its_interval_and_does_not_depend_on_order(labels, data):
    rate = pooled_defect_rate(*zip(*labels, strict=True))
    shuffled = pooled_defect_rate(*zip(*data.draw(st.permutations(labels)), strict=True))

    assert 0.0 <= rate.low <= rate.value <= rate.high <= 1.0
    assert same(rate, shuffled)
