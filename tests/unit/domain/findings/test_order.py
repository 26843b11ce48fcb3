"""Bands of order metrics: the published cuts, and the same cuts for other lengths."""

from __future__ import annotations

import pytest

from theodolite.domain.findings.order import Band, band_cuts
from theodolite.measurement.order_profile import published_bands


@pytest.mark.parametrize("n", [5, 8, 16, 40])
def test_the_band_limits_match_the_published_bands_of_a_profile(n):
    cuts = band_cuts(n)

    for cin in range(n * (n - 1) // 2 + 1):
        band = published_bands(0.5, cin, 1, n).cin
        assert (band is Band.LOW) == (cin < cuts["cin"][0])
        assert (band is Band.HIGH) == (cin >= cuts["cin"][1])
    for lis in range(1, n + 1):
        band = published_bands(0.5, 0, lis, n).lis
        assert (band is Band.LOW) == (lis < cuts["lis"][0])
        assert (band is Band.HIGH) == (lis >= cuts["lis"][1])
