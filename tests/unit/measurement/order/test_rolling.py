from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.entropy import permutation_entropy
from theodolite.measurement.order.inversions import inversion_count
from theodolite.measurement.order.rolling import rolling_entropy, rolling_inversions, rolling_subsequence


def test_a_sequence_shorter_than_the_window_has_no_window():
    assert len(rolling_entropy([1, 2, 3], window=8)) == 0
    assert len(rolling_inversions([1, 2, 3], window=8)) == 0
    assert len(rolling_subsequence([1, 2, 3], window=8)) == 0


@pytest.mark.parametrize(
    ("call", "window"), [(rolling_entropy, 2), (rolling_inversions, 1), (rolling_subsequence, 256)]
)
def test_windows_that_hold_nothing_or_too_much_are_refused(call, window):
    with pytest.raises(InputError, match="`window` must"):
        call([1, 2, 3], window=window)


def test_long_windows_use_running_sums_with_the_same_result():
    scores = np.random.default_rng(5).integers(1, 6, 120)

    assert rolling_inversions(scores, window=60)[7] == inversion_count(scores[7:67])
    assert rolling_entropy(scores, window=60)[7] == pytest.approx(permutation_entropy(scores[7:67]), abs=1e-12)
    assert rolling_entropy(scores, window=60, normalize=True).max() <= 1
