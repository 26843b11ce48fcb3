import pytest

from theodolite.domain.money import dollars


@pytest.mark.parametrize(("usd", "words"), [(0, "$0.00"), (5, "$5.00"), (0.01, "$0.01"), (0.001234, "$0.0012")])
def test_an_amount_below_a_cent_is_no_nothing(usd, words):
    assert dollars(usd) == words
