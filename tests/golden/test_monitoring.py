"""The published examples of control charts and confidence sequences."""

from __future__ import annotations

import pytest

from tests.golden.published import monitoring
from theodolite.measurement.control_charts import confidence_sequence, cusum, ewma


def test_the_cumulative_sums_of_the_handbook():
    row = monitoring()["cusum"]

    chart = cusum(row["x"], target=row["mu"], slack=row["k"], limit=row["h"])

    assert chart.upper == pytest.approx(row["s_hi"], abs=0.011)
    assert chart.lower == pytest.approx(row["s_lo"], abs=0.011)
    assert chart.signals[0] + 1 == row["first_alarm_1based"]


def test_the_moving_average_of_the_handbook():
    row = monitoring()["ewma"]

    chart = ewma(row["x"], target=row["target"], sd=row["sd"], weight=row["weight"])

    assert chart.upper[-3:] == pytest.approx(row["last"], abs=0.011)
    assert chart.high[-1] == pytest.approx(row["upper_limit"], abs=1e-3)
    assert chart.signals == ()


@pytest.mark.parametrize("row", monitoring()["sequences"], ids=lambda row: f"{row['defects']} of {row['labelled']}")
def test_confidence_sequences(row):
    found = confidence_sequence(row["defects"], row["labelled"], prior=(row["prior"], row["prior"]))

    assert (found.low, found.high) == pytest.approx((row["low"], row["high"]), abs=1.1e-5)
