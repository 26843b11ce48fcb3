"""Strata: dialogues sorted by verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaincinv

from theodolite.domain.errors import InputError
from theodolite.measurement.correction import corrected_rate
from theodolite.measurement.stratified_correction import lattice, middle, plan_labels, share_chances, strata


def test_dialogues_without_a_verdict_form_a_stratum():
    heaps = strata([True, False, None, False], [True, None, False, False], None)

    found = [(part.verdict, part.judged, part.labelled, part.defects) for part in heaps.parts]
    assert found == [("defect", 1, 1, 1), ("sound", 2, 1, 0), ("no verdict", 1, 1, 0)]
    assert (heaps.judged, heaps.labelled, heaps.defects, heaps.n_clusters) == (4, 3, 1, None)


def test_labels_are_counted_within_their_clusters():
    heaps = strata(["a", "a", "a", "b"], [True, False, True, None], ["p", "p", "q", "q"])

    assert sorted(heaps.parts[0].by_cluster) == [(1, 1), (1, 2)]
    assert heaps.verdicts_by_cluster.tolist() == [[2, 0], [1, 1]]
    assert heaps.never_looked_at.startswith("No person has labelled a dialogue that the judge called `b`")


def test_equally_likely_shares_are_summed():
    shares, defects = strata(["a", "b", "c"] * 20, [True, False, False] * 20, None).chances()

    assert shares.sum(axis=0) == pytest.approx(1.0)
    assert shares.mean(axis=1) == pytest.approx(1 / 3, abs=0.02)
    assert defects.mean(axis=1) == pytest.approx([20.5 / 21, 0.5 / 21, 0.5 / 21], abs=1e-3)


@pytest.mark.parametrize(
    ("verdicts", "labels", "words"),
    [
        ([True], [True, False], "must be of the same dialogues; got 1 and 2"),
        ([True], ["yes"], "`labels` must say True .defect., False or None .nobody looked.; got 'yes'"),
    ],
)
def test_invalid_lists_are_refused(verdicts, labels, words):
    with pytest.raises(InputError, match=words):
        strata(verdicts, labels, None)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 7])
def test_the_points_fill_each_dimension_of_the_cube_evenly(dimensions):
    spread = lattice(dimensions)

    counts = np.array([np.histogram(side, bins=16, range=(0, 1))[0] for side in spread])

    assert spread.shape == (dimensions, 8192)
    assert abs(counts - 512).max() <= 12


def test_shares_of_independent_units_have_the_jeffreys_posterior():
    shares = share_chances([(3, 20), (1, 30)], lattice(1)[0], alone=True)

    assert middle(shares, 0.95) == pytest.approx(betaincinv(4.5, 46.5, [0.025, 0.975]), abs=2e-4)


def test_shares_of_clusters_have_a_larger_variance():
    spread = lattice(1)[0]
    clusters = [(8, 10), (0, 10), (0, 10), (1, 10)]

    assert share_chances(clusters, spread, alone=False).std() > 1.5 * share_chances(clusters, spread, alone=True).std()


def test_clusters_of_one_unit_are_independent_units():
    spread = lattice(1)[0]
    ones = [(1, 1)] * 4 + [(0, 1)] * 16

    assert np.array_equal(share_chances(ones, spread, alone=False), share_chances([(4, 20)], spread, alone=True))


VERDICTS = [True] * 60 + [False] * 940

PILOT = [True] * 9 + [False] * 3 + [None] * 48 + [True] + [False] * 49 + [None] * 890


def test_dialogues_are_drawn_from_each_stratum_without_the_labelled_ones():
    plan = plan_labels(VERDICTS, PILOT, budget=100, seed=3)

    assert sum(plan.take.values()) == len(set(plan.dialogues)) == 100
    assert all(PILOT[place] is None for place in plan.dialogues)
    assert sum(VERDICTS[place] for place in plan.dialogues) == plan.take["defect"]


def test_most_labels_are_allocated_where_missed_defects_matter():
    plan = plan_labels(VERDICTS, PILOT, budget=200)

    assert plan.take["sound"] > plan.take["defect"] > 0


def test_planned_labels_narrow_the_interval_more_than_random_ones():
    verdicts, pilot = [True] * 70 + [False] * 930, [True] * 4 + [False] * 6 + [None] * 60 + [False] * 20 + [None] * 910
    plan = plan_labels(verdicts, pilot, budget=200)

    assert plan.width < plan.width_at_random < plan.width_now


def test_the_current_width_is_that_of_the_corrected_rate():
    rate = corrected_rate(VERDICTS, PILOT)

    assert plan_labels(VERDICTS, PILOT, budget=1).width_now == pytest.approx(rate.high - rate.low, abs=1e-6)


def test_every_stratum_is_sampled_first():
    plan = plan_labels(["a"] * 97 + ["b", "c", "d"], [None] * 100, budget=4)

    assert plan.take == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert plan.width_now == 1.0


def test_the_same_seed_draws_the_same_dialogues():
    assert plan_labels(VERDICTS, PILOT, budget=20, seed=1) == plan_labels(VERDICTS, PILOT, budget=20, seed=1)
    assert plan_labels(VERDICTS, PILOT, budget=20, seed=1) != plan_labels(VERDICTS, PILOT, budget=20, seed=2)


def test_no_more_dialogues_than_exist_can_be_labelled():
    with pytest.raises(InputError, match="`budget` must be at most the 2 dialogues without a label; got 3"):
        plan_labels([True, False], [None, None], budget=3)
