"""What each annotator said beside the others, and how the labels of each dialogue are spread."""

from __future__ import annotations

import pytest

from tests.unit.measurement.test_annotating import YES, given
from theodolite.domain.findings.number import Undefined
from theodolite.measurement.answer_arrays import answer_arrays
from theodolite.measurement.spread import rater_agreements, spreads


def answered(table):
    return answer_arrays(given(table))


def test_everybody_stands_beside_all_others_they_met():
    anna, ben, carl = rater_agreements(YES, answered({"anna": "yyn", "ben": "yyy", "carl": "-n-"}))

    assert (anna.annotator, anna.prevalence, anna.n_answers) == ("anna", (("yes", 2), ("no", 1)), 3)
    assert (anna.alike.value, anna.alike.n) == (pytest.approx((1 + 1 / 2 + 0) / 3), 3)
    assert (carl.alike.value, carl.alike.n) == (0.0, 1)
    assert ben.alike.value == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_whoever_met_nobody_has_no_number():
    (anna,) = rater_agreements(YES, answered({"anna": "yyn"}))

    assert isinstance(anna.alike, Undefined)
    assert rater_agreements(YES, answered({})) == ()


def test_the_most_divided_dialogue_stands_first_with_its_distribution():
    first, second, third = spreads(YES, answered({"a": "yyyy", "b": "nyy-", "c": "nny-", "d": "nyy-"}))

    assert [one.dialogue for one in (first, second, third)] == [0, 1, 2]
    assert first.counts == (("yes", 1), ("no", 3))
    assert (first.n, third.counts) == (4, (("yes", 4), ("no", 0)))
    assert spreads(YES, answered({})) == ()
