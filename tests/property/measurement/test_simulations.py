"""Simulations of coverage and false alarms give their golden values; `benchmarks/simulate_intervals.py` checks them."""

from __future__ import annotations

import pytest
from benchmarks.simulate_intervals import SIMULATIONS

REPETITIONS = 12

GOLDEN = {
    "superiority": (12, 0.2627230202),
    "people": (0, 0.5285714286),
    "clusters": (0, 0.5099283854),
    "rate chart": (2, 0.1666666667),
    "level chart": (1, 0.08333333333),
    "scan": (1, 0.1666666667),
    "sequence": (11, 0.09533560325),
    "fractions": (12, 0.1501947684),
    "pool of 40": (11, 0.1568460438),
    "equal pool": (12, 0.1371971064),
    "pool of 10": (11, 0.1663457613),
    "changes 10x20": (12, 0.1356379167),
    "changes 20x5": (11, 0.1296323069),
    "no changes": (12, 0.104503416),
}
"""Repetitions that are counted, and the mean width, p-value or number of alarms.

Where a method changes on purpose, run the simulations in full first, then write these values again.
"""


@pytest.mark.parametrize("name", GOLDEN)
def test_the_first_repetitions_of_a_simulation_are_reproducible(name):
    share, size = SIMULATIONS[name].run(REPETITIONS)

    assert (round(share * REPETITIONS), size) == (GOLDEN[name][0], pytest.approx(GOLDEN[name][1], rel=1e-6))


def test_every_simulation_has_golden_values():
    assert [*GOLDEN] == [*SIMULATIONS]
