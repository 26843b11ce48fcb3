"""Agreement weights: what counts as agreement on a scale."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.agreement_weights import KNOWN, agreement_weights


@pytest.mark.parametrize(
    ("weights", "row"),
    [
        ("identity", [1, 0, 0, 0]),
        ("linear", [1, 2 / 3, 1 / 3, 0]),
        ("quadratic", [1, 8 / 9, 5 / 9, 0]),
        ("ordinal", [1, 5 / 6, 1 / 2, 0]),
        ("band", [1, 1, 0, 0]),
    ],
)
def test_weights_fall_with_the_distance(weights, row):
    assert agreement_weights(4, weights)[0].tolist() == pytest.approx(row)


@pytest.mark.parametrize("weights", KNOWN)
def test_weights_go_both_ways(weights):
    table = agreement_weights(5, weights)

    assert (table == table.T).all()


def test_unknown_weights_are_refused():
    with pytest.raises(InputError, match=r"`weights` must be one of identity, .* got 'cubic'"):
        agreement_weights(3, "cubic")
