from __future__ import annotations

import math

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.order.entropy import all_triples_entropy, permutation_entropy


@pytest.mark.parametrize("scores", [[], [1], [1, 2]])
def test_a_sequence_without_a_pattern_is_refused(scores):
    with pytest.raises(InputError, match="needs 3 scores at least"):
        permutation_entropy(scores)
    with pytest.raises(InputError, match="needs 3 scores at least"):
        all_triples_entropy(scores)


def test_a_longer_delay_needs_a_longer_sequence():
    with pytest.raises(InputError, match="order 3 and delay 4 needs 9"):
        permutation_entropy([1] * 8, delay=4)


def test_stars_that_rise_in_steps_look_constant_unless_ties_count():
    stairs = [1, 1, 2, 2, 3, 3, 4, 4]

    assert permutation_entropy(stairs) == 0
    assert permutation_entropy(stairs, ties="weak") == pytest.approx(math.log(2))


def test_the_longest_patterns_are_coded_too():
    assert permutation_entropy([1, 2, 3, 4, 5, 6, 7, 6], order=7) == pytest.approx(math.log(2))


def test_all_triples_may_be_normalised():
    scores = [3, 1, 2, 5, 4]

    assert all_triples_entropy(scores, normalize=True) == pytest.approx(all_triples_entropy(scores) / math.log(6))
