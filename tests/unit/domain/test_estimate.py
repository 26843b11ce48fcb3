from __future__ import annotations

import math

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import ConfusionMatrix, Estimate, Outcomes

PARTS = {"value": 0.5, "low": 0.1, "high": 0.9, "confidence": 0.95, "n": 4, "unit": "fraction", "method": "wilson"}


@pytest.mark.parametrize("name", ["value", "low", "high", "confidence", "chance"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_an_estimate_holds_finite_numbers_only(name, number):
    with pytest.raises(InputError, match="finite"):
        Estimate(**{**PARTS, name: number})


def test_an_account_adds_up():
    account = Outcomes(planned=10, used=4, missing=1, failed=1, refused=1, unparseable=1, not_applicable=2)

    assert account.unmeasured == 4


@pytest.mark.parametrize("parts", [{"used": 9}, {"used": 11, "missing": -1}, {"used": 10, "failed": 1}])
def test_an_account_that_does_not_add_up_is_refused(parts):
    with pytest.raises(InputError, match="sum of the other counts"):
        Outcomes(planned=10, **parts)


def test_a_confusion_matrix_knows_how_many_units_it_holds():
    assert ConfusionMatrix(categories=("a", "b"), counts=((1, 2), (0, 3))).n == 6
