from __future__ import annotations

import pytest

from theodolite.measurement.order.bands import published_bands


@pytest.mark.parametrize(
    ("normalized", "band", "in_gap"),
    [(0.3, "low", False), (0.34, "low", True), (0.36, "medium", True), (0.5, "medium", False), (0.66, "high", True)],
)
def test_the_holes_of_the_table_are_closed_and_said_so(normalized, band, in_gap):
    bands = published_bands(normalized, 0, 1, 8)

    assert (bands.pen.value, bands.pen_in_gap) == (band, in_gap)


@pytest.mark.parametrize(("cin", "band"), [(4, "low"), (5, "medium"), (9, "medium"), (10, "high"), (28, "high")])
def test_inversions_of_eight_scores(cin, band):
    assert published_bands(0, cin, 1, 8).cin.value == band


@pytest.mark.parametrize(("lis", "band"), [(3, "low"), (4, "medium"), (5, "medium"), (6, "high")])
def test_subsequences_of_eight_scores(lis, band):
    assert published_bands(0, 0, lis, 8).lis.value == band


def test_other_lengths_are_rescaled_under_a_name_that_says_so():
    bands = published_bands(0.5, 60, 8, 16)

    assert (bands.name, bands.cin.value, bands.lis.value) == (
        "relevance-2024, rescaled from 8 to 16 scores",
        "high",
        "medium",
    )
