"""From risk to impact: likelihood, magnitude and their product against values computed by hand."""

from __future__ import annotations

import math
import statistics

import pytest

from theodolite.domain.choices import Impact
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.study.impacts import RiskGrade, risk_impact


def grades(*magnitudes: float | None, sound: int = 0) -> list[RiskGrade]:
    """Return materialised dialogues with these grades and some in which nothing happened, each of its own person."""
    real = [RiskGrade(person=f"r{n}", is_real=True, magnitude=grade) for n, grade in enumerate(magnitudes)]
    return real + [RiskGrade(person=f"s{n}", is_real=False) for n in range(sound)]


def test_likelihood_is_the_share_of_decided_dialogues_with_the_interval_of_wilson():
    found = risk_impact([*grades(4.0, 6.0, sound=8), RiskGrade(person="u", is_real=None)]).likelihood
    z, n, p = 1.959964, 10, 0.2
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)

    assert isinstance(found, Estimate)
    assert (found.value, found.n, found.count) == (0.2, 10, 2)
    assert (found.low, found.high) == (pytest.approx(middle - reach, abs=1e-5), pytest.approx(middle + reach, abs=1e-5))


def test_magnitude_is_the_mean_grade_of_materialised_dialogues():
    found = risk_impact(grades(4.0, 6.0, 8.0, sound=5)).magnitude
    reach = 4.302653 * statistics.stdev([4.0, 6.0, 8.0]) / math.sqrt(3)  # Student's t, 2 degrees of freedom

    assert isinstance(found, Estimate)
    assert (found.value, found.n) == (6.0, 3)
    assert found.high - found.value == pytest.approx(reach, abs=1e-5)


def test_the_expected_magnitude_is_likelihood_times_magnitude():
    impact = risk_impact(grades(4.0, 6.0, 8.0, sound=9))

    assert impact.expected.value == pytest.approx(impact.likelihood.value * impact.magnitude.value)


def test_a_materialised_risk_without_a_grade_leaves_the_product_undefined_and_is_counted():
    impact = risk_impact(grades(4.0, None, 8.0, sound=3))

    assert isinstance(impact.expected, Undefined)
    assert (impact.n_real, impact.n_ungraded, impact.magnitude.n) == (3, 1, 2)


def test_pending_reviews_leave_the_likelihood_undefined():
    impact = risk_impact(grades(4.0, sound=3), n_pending=2)

    assert isinstance(impact.likelihood, Undefined)
    assert isinstance(impact.expected, Undefined)


def test_dialogues_of_one_person_are_clustered():
    alone = risk_impact([RiskGrade(person=f"p{n}", is_real=n < 6) for n in range(12)]).likelihood
    together = risk_impact([RiskGrade(person=f"p{n // 6}", is_real=n < 6) for n in range(12)]).likelihood

    assert together.value == alone.value
    assert together.high - together.low > alone.high - alone.low


def test_directions_of_impact_are_counted_separately():
    real = [RiskGrade(person="a", is_real=True, magnitude=2.0, impacts=(Impact.POSITIVE, Impact.NEGATIVE))]
    sound = [RiskGrade(person="b", is_real=False, impacts=(Impact.NEGATIVE,))]

    assert risk_impact(real + sound).impacts == {"positive": 1, "negative": 1}


def test_without_dialogues_nothing_is_defined():
    impact = risk_impact([])

    assert isinstance(impact.likelihood, Undefined)
    assert isinstance(impact.magnitude, Undefined)
    assert isinstance(impact.expected, Undefined)
