from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.monitoring.sequences import confidence_sequence, sequence_ends


def test_nothing_labelled_has_no_sequence():
    assert isinstance(confidence_sequence(0, 0), Undefined)


def test_more_defects_than_labels_are_refused():
    with pytest.raises(InputError, match=r"within 0\.\.`labelled`"):
        confidence_sequence(3, 2)


@pytest.mark.parametrize(("defects", "end"), [(0, 0.0), (20, 1.0)])
def test_the_edges_are_kept(defects, end):
    found = confidence_sequence(defects, 20)

    assert end in {found.low, found.high}


def test_the_truth_is_missed_at_some_look_in_about_one_of_twenty_at_most():
    rng, looks, truth, repeats = np.random.default_rng(2), np.arange(1, 501), 0.1, 400
    z = 1.959964

    missed = missed_by_wilson = 0
    for _ in range(repeats):
        counts = np.cumsum(rng.random(500) < truth)
        low, high = sequence_ends(counts, looks, 0.95, (0.5, 0.5))
        missed += bool(((truth < low) | (truth > high)).any())
        missed_by_wilson += bool((abs(counts / looks - truth) > z * np.sqrt(truth * (1 - truth) / looks)).any())

    assert missed / repeats <= 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5
    assert missed_by_wilson / repeats > 0.3
