"""The published values of the order metrics, and their exact distribution for eight scores."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.published import order
from theodolite.measurement.order_profile import (
    entropy_of_rows,
    inversions_of_rows,
    null_of,
    relevance_profile,
    rising_of_rows,
)
from theodolite.measurement.sequences import (
    all_triples_entropy,
    inversion_count,
    longest_increasing_subsequence,
    permutation_entropy,
)

PICO = order()["pico"]
SEQUENCES = order()["sequences"]
NULL8 = order()["null8"]


@pytest.mark.parametrize("row", PICO, ids=range(len(PICO)))
def test_the_logs_of_pico_have_the_published_metrics(row):
    sequence = row["sequence"]

    assert permutation_entropy(sequence) == pytest.approx(row["pen"], abs=1e-10)
    assert inversion_count(sequence) == row["cin"]
    assert longest_increasing_subsequence(sequence) == row["lis"]


@pytest.mark.parametrize("row", PICO[:4], ids=range(4))
def test_pico_tabulates_all_triples_instead_of_adjacent_ones(row):
    exact = all_triples_entropy(row["sequence"])

    assert exact == pytest.approx(row["all_triples"], abs=1e-9)
    assert abs(exact - row["random_triples_logged"]) < abs(row["pen"] - row["random_triples_logged"])


@pytest.mark.parametrize("row", SEQUENCES, ids=[str(row["sequence"]) for row in SEQUENCES])
def test_sequences_have_their_known_values(row):
    sequence = row["sequence"]

    found = {
        "pen": permutation_entropy(sequence),
        "pen_normalized": permutation_entropy(sequence, normalize=True),
        "pen_weak": permutation_entropy(sequence, ties="weak"),
        "cin": inversion_count(sequence),
        "lis": longest_increasing_subsequence(sequence),
        "lnds": longest_increasing_subsequence(sequence, strict=False),
    }

    assert found == pytest.approx({name: row[name] for name in found}, abs=1e-9)


@pytest.mark.parametrize(("order", "bits"), [(2, 0.918), (3, 1.522)])
def test_the_example_of_bandt_and_pompe_has_its_printed_value_in_bits(order, bits):
    example = next(row["sequence"] for row in SEQUENCES if row["sequence"][0] == 4)

    assert permutation_entropy(example, order=order) / np.log(2) == pytest.approx(bits, abs=5.1e-4)


def test_the_example_of_relevance_is_medium_high_and_low():
    profile = relevance_profile([5, 4] * 4)

    assert [profile.pen.band.value, profile.cin.band.value, profile.lis.band.value] == ["medium", "high", "low"]


def test_all_orders_of_eight_scores():
    rows = null_of(np.arange(8.0)).rows

    inversions, rising = inversions_of_rows(rows), rising_of_rows(rows)

    assert (inversions.mean(), inversions.var()) == pytest.approx((NULL8["cin_mean"], NULL8["cin_variance"]))
    assert np.mean(inversions <= 4) == pytest.approx(NULL8["cin_at_most_4"], abs=5e-5)
    assert np.mean((inversions >= 5) & (inversions <= 9)) == pytest.approx(NULL8["cin_5_to_9"], abs=1e-4)
    assert np.mean(inversions >= 10) == pytest.approx(NULL8["cin_at_least_10"], abs=5e-5)
    assert np.bincount(rising.astype(int))[1:].tolist() == NULL8["lis_counts"]


def test_permutation_entropy_of_all_orders_of_eight_scores():
    found = entropy_of_rows(3, 1, "stable")(null_of(np.arange(8.0)).rows)

    assert found.mean() == pytest.approx(NULL8["pen_mean"], abs=1e-9)
    assert np.unique(found.round(6), return_counts=True)[1].tolist() == NULL8["pen_counts"]
