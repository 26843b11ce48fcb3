"""Chances: points spread evenly, and shares as likely as counts make them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv

from theodolite.measurement.correction.chances import lattice, middle, share_chances


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 7])
def test_points_fill_every_side_of_the_cube_evenly(dimensions):
    spread = lattice(dimensions)

    counts = np.array([np.histogram(side, bins=16, range=(0, 1))[0] for side in spread])

    assert spread.shape == (dimensions, 8192)
    assert abs(counts - 512).max() <= 12


def test_shares_of_independent_units_are_jeffreys_posterior():
    shares = share_chances([(3, 20), (1, 30)], lattice(1)[0], alone=True)

    assert middle(shares, 0.95) == pytest.approx(betaincinv(4.5, 46.5, [0.025, 0.975]), abs=2e-4)


def test_shares_of_clusters_vary_more():
    spread = lattice(1)[0]
    clusters = [(8, 10), (0, 10), (0, 10), (1, 10)]

    assert share_chances(clusters, spread, alone=False).std() > 1.5 * share_chances(clusters, spread, alone=True).std()


def test_clusters_of_one_unit_are_independent_units():
    spread = lattice(1)[0]
    ones = [(1, 1)] * 4 + [(0, 1)] * 16

    assert np.array_equal(share_chances(ones, spread, alone=False), share_chances([(4, 20)], spread, alone=True))
