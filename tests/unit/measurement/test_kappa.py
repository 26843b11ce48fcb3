"""Kappa: undefined cases, intervals and refusals."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import cohen_kappa, fleiss_kappa

MIXED = (["yes"] * 5 + ["no"] * 5, ["yes"] * 4 + ["no"] * 6)


def test_no_pair_has_no_kappa():
    assert isinstance(cohen_kappa([None], ["yes"], categories=["yes", "no"]), Undefined)


def test_one_constant_annotator_has_a_kappa_of_0():
    kappa = cohen_kappa(["yes"] * 4, ["yes", "yes", "no", "no"], categories=["yes", "no"])

    assert kappa.value == pytest.approx(0.0)
    assert kappa.low < 0.0 < kappa.high


def test_perfect_agreement_keeps_an_interval():
    kappa = cohen_kappa(MIXED[0], MIXED[0], categories=["yes", "no"])

    assert (kappa.value, kappa.high) == (1.0, 1.0)
    assert kappa.low == pytest.approx(0.445, abs=1e-3)
    assert kappa.method.startswith("wilson")


def test_an_interval_near_perfect_agreement_stays_below_1():
    a = ["yes"] * 50 + ["no"] * 50
    kappa = cohen_kappa(a, ["no", *a[1:]], categories=["yes", "no"])

    assert kappa.value == pytest.approx(0.98)
    assert kappa.low < 0.9
    assert kappa.high < 1.0


def test_unknown_weights_are_refused():
    with pytest.raises(InputError, match="`weights` must be None, `linear` or `quadratic`; got 'cubic'"):
        cohen_kappa(*MIXED, categories=["yes", "no"], weights="cubic")


@pytest.mark.parametrize("counts", [[], [[0, 0]]])
def test_no_label_at_all_has_no_fleiss_kappa(counts):
    result = fleiss_kappa(counts)

    assert isinstance(result, Undefined)
    assert result.reason == "No dialogue has labels of two annotators."


def test_one_unit_alone_has_an_interval():
    kappa = fleiss_kappa([[1, 1]])

    assert kappa.low <= kappa.value <= kappa.high


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[2, 0], [1]], "without gaps; got rows of different length"),
        ([2, 0], r"got shape \(2,\)"),
        ([[2], [2]], r"got shape \(2, 1\)"),
        ([[2, -1]], "whole numbers of 0 or more"),
        ([[1.5, 0.5]], "whole numbers of 0 or more"),
        ([[1, 0], [0, 1]], "needs two annotators at least"),
        ([["a", "b"]], "or no numbers"),
    ],
)
def test_tables_that_are_no_counts_are_refused(counts, words):
    with pytest.raises(InputError, match=words):
        fleiss_kappa(counts)
