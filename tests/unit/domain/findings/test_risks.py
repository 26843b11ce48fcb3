from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.findings.risks import MaterialisedRisk


@pytest.mark.parametrize("magnitude", [None, 1, 10])
def test_a_magnitude_lies_on_its_scale(magnitude):
    assert MaterialisedRisk(risk="r", dialogue="d", magnitude=magnitude).magnitude == magnitude


@pytest.mark.parametrize("magnitude", [0, 11, -1])
def test_a_magnitude_outside_its_scale_is_refused(magnitude):
    with pytest.raises(InputError, match=r"1\.\.10"):
        MaterialisedRisk(risk="r", dialogue="d", magnitude=magnitude)
