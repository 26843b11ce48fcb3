from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.monitoring import scans
from theodolite.measurement.monitoring.scans import confidence_sequence, scan


def test_the_probability_of_a_rank_sum_is_exact_with_ties():
    values = np.array([1, 1, 2, 2, 3, 3, 3, 4])
    doubled = scans._doubled_ranks(values)
    found = int(doubled[6:].sum())

    sums = [doubled[list(chosen)].sum() for chosen in combinations(range(8), 2)]

    assert doubled.tolist() == (2 * rankdata(values)).tolist()
    assert scans._at_least(doubled, 2, found) == pytest.approx(np.mean(np.array(sums) >= found))


def test_a_rise_is_found_with_its_begin_and_scanned_for_anew():
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.integers(0, 12, 60), rng.integers(10, 22, 30)]).astype(float)

    alarms = scan(values, n_reference=40, arl=1000)

    assert abs(alarms[0].since - 60) <= 2
    assert alarms[0].index <= 66
    assert alarms[1].since > alarms[0].index


def test_a_fall_is_no_rise():
    values = np.concatenate([np.arange(40.0) % 10 + 10, np.zeros(20)])

    assert scan(values, n_reference=40, arl=100) == ()
    assert scan(-values, n_reference=40, arl=100) != ()


def test_equal_windows_never_alarm():
    assert scan(np.ones(100), n_reference=20, arl=100) == ()
    assert scan(np.ones(10), n_reference=20, arl=100) == ()


def by_every_window(values, *, n_reference, arl):
    """The scan without a look at what is worth one: an exact probability for every window and span."""
    reference, alarms, fresh = values[:n_reference], [], n_reference
    for end in range(n_reference + 1, len(values) + 1):
        for span in (span for span in scans.SPANS if end - span >= fresh):
            p_value = scans._rank_sum_p(reference, values[end - span : end])
            if p_value <= 1 / (arl * len(scans.SPANS)):
                alarms.append((end - 1, end - span, p_value))
                fresh = end
                break
    return alarms


@pytest.mark.parametrize("seed", range(12))
def test_no_window_is_passed_over_that_would_alarm(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.integers(0, 5, 60), rng.integers(seed % 4, 6, 60)]).astype(float)

    alarms = scan(values, n_reference=20, arl=50)

    assert [(one.index, one.since, one.p_value) for one in alarms] == by_every_window(values, n_reference=20, arl=50)


def test_nothing_labelled_has_no_sequence():
    assert isinstance(confidence_sequence(0, 0), Undefined)


def test_more_defects_than_labels_are_refused():
    with pytest.raises(InputError, match=r"within 0\.\.`labelled`"):
        confidence_sequence(3, 2)


@pytest.mark.parametrize(("defects", "end"), [(0, 0.0), (20, 1.0)])
def test_the_edges_are_kept(defects, end):
    found = confidence_sequence(defects, 20)

    assert end in {found.low, found.high}
