from __future__ import annotations

import numpy as np
import pytest

from theodolite.measurement.order.subsequence import longest_increasing_subsequence


def by_ends(scores, *, strict):
    longest = []
    for place, score in enumerate(scores):
        before = [longest[at] for at in range(place) if (scores[at] < score if strict else scores[at] <= score)]
        longest.append(1 + max(before, default=0))
    return max(longest, default=0)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not falling"])
@pytest.mark.parametrize("values", [1, 5, 33, 1000])
def test_values_and_patience_agree_with_the_definition(values, strict):
    scores = np.random.default_rng(4).integers(0, values, 200).tolist()

    assert longest_increasing_subsequence(scores, strict=strict) == by_ends(scores, strict=strict)


def test_nothing_has_no_subsequence():
    assert longest_increasing_subsequence([]) == 0


def test_five_stars_can_never_rise_to_the_published_high():
    assert longest_increasing_subsequence([1, 2, 3, 4, 5, 5, 5, 5]) == 5
