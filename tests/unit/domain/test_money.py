import pytest

from theodolite.domain.money import cost_text, dollars


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0, "$0.00"),
        (1e-9, "$0.000001"),
        (0.000041, "$0.000041"),
        (0.001234, "$0.001234"),
        (0.005, "$0.005"),
        (0.01, "$0.01"),
        (5, "$5.00"),
        (1250, "$1,250.00"),
    ],
)
def test_an_amount_below_a_cent_is_no_nothing(usd, words):
    assert dollars(usd) == words


def test_a_cost_is_told_in_dollars():
    assert (cost_text(0), cost_text(410), cost_text(930_000)) == ("$0.00", "$0.00041", "$0.93")
