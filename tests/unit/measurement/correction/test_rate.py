"""Corrected rates: values, refusals and what widens them."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.estimate import Undefined
from theodolite.measurement import corrected_rate
from theodolite.measurement.correction.strata import strata

VERDICTS = [True] * 100 + [False] * 900


def labels(alarms, rest):
    """Return labels of (defects, labelled) alarms and of the rest."""
    parts = [[True] * d + [False] * (n - d) + [None] * (size - n) for (d, n), size in ((alarms, 100), (rest, 900))]
    return parts[0] + parts[1]


def test_heaps_count_by_their_size_whatever_was_labelled_of_them():
    rate = corrected_rate(VERDICTS, labels((40, 50), (1, 50)))

    assert rate.value == pytest.approx(0.1 * 0.8 + 0.9 * 0.02)
    assert (rate.n, rate.unit, rate.method) == (100, "fraction of dialogues", "verdict-stratified, Jeffreys")


def test_no_defect_found_is_bounded_and_not_denied():
    rate = corrected_rate(VERDICTS, labels((0, 50), (0, 50)))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert 0.02 < rate.high < 0.08


def test_everything_a_defect_reaches_1():
    rate = corrected_rate([True] * 20, [True] * 20)

    assert (rate.value, rate.high) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (labels((0, 0), (0, 0)), "No dialogue has a label"),
        (labels((30, 50), (0, 0)), "called `sound`"),
        (labels((0, 0), (1, 50)), "called `defect`"),
    ],
)
def test_a_heap_that_nobody_looked_at_leaves_the_rate_unknown(found, words):
    result = corrected_rate(VERDICTS, found)

    assert isinstance(result, Undefined)
    assert words in result.reason


def test_labels_of_all_give_the_rate_that_people_found():
    rng = np.random.default_rng(2)
    truth = (rng.random(400) < 0.2).tolist()
    verdicts = (rng.random(400) < 0.3).tolist()

    assert corrected_rate(verdicts, truth).value == pytest.approx(np.mean(truth))


def test_clusters_widen_the_interval():
    found = labels((40, 50), (10, 50))
    personas = [f"p{place % 7 if truth else place % 5}" for place, truth in enumerate(found)]

    alone, together = corrected_rate(VERDICTS, found), corrected_rate(VERDICTS, found, clusters=personas)

    assert together.value == alone.value
    assert together.high - together.low > alone.high - alone.low
    assert (together.n_clusters, together.method) == (7, "verdict-stratified, beta-binomial")


def test_more_labels_narrow_the_interval():
    some = corrected_rate(VERDICTS, labels((16, 20), (2, 40)))
    more = corrected_rate(VERDICTS, labels((64, 80), (8, 160)))

    assert more.value == some.value
    assert more.high - more.low < 0.6 * (some.high - some.low)


def test_verdicts_may_be_points_of_a_scale():
    verdicts = [1] * 30 + [2] * 30 + [3] * 40
    rate = corrected_rate(verdicts, ([False] * 10 + [None] * 20) + ([True, False] * 5 + [None] * 20) + [True] * 40)

    assert rate.value == pytest.approx(0.3 * 0 + 0.3 * 0.5 + 0.4)


def test_personas_that_provoke_defects_raise_verdicts_and_labels_at_once():
    """What both have in common widens the rate beyond what each tells alone."""
    verdicts, found, personas = [], [], []
    for persona in range(12):
        flagged = 36 if persona < 4 else 2
        verdicts += [True] * flagged + [False] * (40 - flagged)
        found += (
            [persona < 4] * 2 + [None] * (flagged - 2) + [persona < 4, None] + [False] * 2 + [None] * (36 - flagged)
        )
        personas += [persona] * 40

    rate = corrected_rate(verdicts, found, clusters=personas)

    heaps = strata(verdicts, found, personas)
    shares, defects = heaps.chances()
    apart = np.quantile((shares * defects).sum(axis=0), [0.025, 0.975])
    assert rate.high - rate.low > 1.1 * (apart[1] - apart[0])


def test_no_defect_among_labels_of_a_random_part_is_bounded_as_without_a_judge():
    """A part in proportion to the verdicts; 1 - .025 ** (1 / 100) = .0362."""
    rate = corrected_rate(VERDICTS, labels((0, 10), (0, 90)))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(0.0362, abs=1e-4)


def test_where_no_defect_is_found_no_spread_over_verdicts_makes_that_likely_at_the_upper_end():
    rate = corrected_rate(VERDICTS, labels((0, 50), (0, 50)))

    shares = np.linspace(0, 1, 4001)
    alarms, rest = np.meshgrid(shares, shares, sparse=True)
    above = 0.1 * alarms + 0.9 * rest >= rate.high
    none = ((1 - alarms) ** 50 * (1 - rest) ** 50)[above].max()
    assert none == pytest.approx(0.025, rel=0.05)


def test_no_defect_among_labels_of_clusters_is_bounded_higher():
    found = labels((0, 10), (0, 90))
    ids = [dialogue // 20 for dialogue in range(1000)]

    assert corrected_rate(VERDICTS, found, clusters=ids).high > corrected_rate(VERDICTS, found).high + 0.003
