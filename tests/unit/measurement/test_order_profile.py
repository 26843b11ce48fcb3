from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.order_profile import (
    _patience,
    chance_levels,
    inversions_of_rows,
    not_falling_of_rows,
    null_of,
    published_bands,
    relevance_profile,
    rising_of_rows,
    trend_chance,
)


def test_constant_high_and_constant_low_scores_differ_in_level_only_and_say_so():
    fives, ones = relevance_profile([5] * 8, defect_at_most=3), relevance_profile([1] * 8, defect_at_most=3)

    assert (fives.pen, fives.cin, fives.lis, fives.notes) == (ones.pen, ones.cin, ones.lis, ones.notes)
    assert (fives.level, ones.level) == (5, 1)
    assert (fives.defect_share.value, ones.defect_share.value) == (0, 1)
    assert "all fives and all ones have the same values" in fives.notes[0]
    assert fives.lis.band is None


def test_missing_scores_are_counted_and_named():
    profile = relevance_profile([5, None, 4, float("nan"), 3, 2])

    assert (profile.n, profile.n_missing) == (4, 2)
    assert any("2 of 6 scores are missing" in note for note in profile.notes)


def test_without_a_rule_there_is_no_defect_rate():
    assert isinstance(relevance_profile([1, 2, 3]).defect_share, Undefined)


def test_too_few_scores_are_refused():
    with pytest.raises(InputError, match="needs 3 scores at least; got 2 of 3"):
        relevance_profile([1, None, 2])


@pytest.mark.parametrize(
    ("scores", "words"),
    [([5, 4] * 4, "100% of the patterns hold equal scores"), ([3, 1, 2, 3], "LIS cannot pass 3")],
    ids=["ties", "few values"],
)
def test_limits_of_the_metrics_are_documented(scores, words):
    assert any(words in note for note in relevance_profile(scores).notes)


def test_many_patterns_of_distinct_scores_leave_no_gap():
    scores = [float((7 * place) % 101) for place in range(80)]

    assert relevance_profile(scores).notes == ()


@pytest.mark.parametrize(
    ("normalized", "band", "in_gap"),
    [(0.3, "low", False), (0.34, "low", True), (0.36, "medium", True), (0.5, "medium", False), (0.66, "high", True)],
)
def test_gaps_in_the_table_are_closed_and_documented(normalized, band, in_gap):
    bands = published_bands(normalized, 0, 1, 8)

    assert (bands.pen.value, bands.pen_in_gap) == (band, in_gap)


@pytest.mark.parametrize(("cin", "band"), [(4, "low"), (5, "medium"), (9, "medium"), (10, "high"), (28, "high")])
def test_inversions_of_eight_scores(cin, band):
    assert published_bands(0, cin, 1, 8).cin.value == band


@pytest.mark.parametrize(("lis", "band"), [(3, "low"), (4, "medium"), (5, "medium"), (6, "high")])
def test_subsequences_of_eight_scores(lis, band):
    assert published_bands(0, 0, lis, 8).lis.value == band


def test_other_lengths_are_rescaled_under_a_separate_name():
    bands = published_bands(0.5, 60, 8, 16)

    assert (bands.name, bands.cin.value, bands.lis.value) == (
        "relevance-2024, rescaled from 8 to 16 scores",
        "high",
        "medium",
    )


STARS = np.array([5.0, 4] * 4)


def test_up_to_eight_scores_all_permutations_are_enumerated():
    chance = null_of(STARS).of(inversions_of_rows, 10)

    assert (chance.at_least, chance.mean) == (pytest.approx(24 / 70), 8.0)
    assert "all orders" in chance.method


def test_sampled_permutations_are_reproducible_and_never_give_p_value_zero():
    scores = np.arange(30.0)

    one, other = (null_of(scores, seed=1).of(inversions_of_rows, 0) for _ in range(2))

    assert one == other
    assert one.at_most == 1 / 2000


def test_the_trend_test_agrees_with_permutations_where_both_exist():
    scores = np.random.default_rng(1).integers(1, 6, 40).astype(float)
    found = int(inversions_of_rows(scores[None, :].astype(int))[0])

    closed, drawn = trend_chance(scores, found), null_of(scores).of(inversions_of_rows, found)

    assert closed.mean == pytest.approx(drawn.mean, rel=0.02)
    assert closed.sd == pytest.approx(drawn.sd, rel=0.06)
    assert closed.at_least == pytest.approx(drawn.at_least, abs=0.04)


def test_a_sequence_that_is_too_long_is_reported():
    levels = chance_levels(np.arange(30_000.0), {"lis": (rising_of_rows, 30_000)})

    assert isinstance(levels["lis"], Undefined)
    assert "rolling windows" in levels["lis"].reason


def test_equal_scores_have_no_trend():
    assert isinstance(trend_chance(np.ones(20), 0), Undefined)


@pytest.mark.parametrize(("found", "verdict"), [(0, "below chance"), (14, "like chance"), (28, "above chance")])
def test_a_result_needs_both_tails(found, verdict):
    assert null_of(np.arange(8.0)).of(inversions_of_rows, found).verdict() == verdict


def test_the_longest_subsequence_of_few_values_matches_the_patience_algorithm():
    rows = np.random.default_rng(8).integers(0, 5, (200, 30))

    assert np.array_equal(not_falling_of_rows(rows), _patience(rows, strict=False))


def test_the_p_value_is_two_sided():
    assert null_of(STARS).of(inversions_of_rows, 10).p_value == pytest.approx(2 * 24 / 70)
