"""Groups of raters: within, across, and whose defects are seen."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import cross_agreement, defect_rates_by_group, group_agreement


def raters(seed=0, units=80, each=8, apart=0.35):
    """Return two groups that see different things, and one rater of a third."""
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.4
    views = [truth, np.where(rng.random(units) < apart, ~truth, truth)]
    rows = [(view ^ (rng.random(units) < 0.1)) for view in views for _ in range(each)]
    return [row.tolist() for row in [*rows, truth]], ["a"] * each + ["b"] * each + ["c"]


def words(rows):
    return [[{True: "y", False: "n", None: None}[x] for x in row] for row in rows]


def test_a_group_with_a_view_of_its_own_agrees_more_within_than_across():
    rows, groups = raters()

    found = group_agreement(words(rows), groups, categories=["n", "y"], draws=199)

    assert [part.group for part in found] == ["a", "b", "c"]
    assert found[0].within.value > found[0].across.value
    assert found[0].ratio > 1.2
    assert found[0].p_value <= found[0].adjusted_p_value <= 0.05


def test_groups_made_at_random_have_no_view_of_their_own():
    rows, _ = raters(apart=0.0)
    groups = ["a" if place % 2 else "b" for place in range(len(rows))]

    found = group_agreement(words(rows), groups, categories=["n", "y"], draws=199)

    assert min(part.p_value for part in found) > 0.05
    assert all(part.ratio == pytest.approx(1.0, abs=0.1) for part in found)


def test_nothing_is_said_of_a_group_of_very_few():
    rows, groups = raters()

    alone = group_agreement(words(rows), groups, categories=["n", "y"], draws=9)[2]

    assert (alone.n_raters, alone.ratio, alone.p_value, alone.adjusted_p_value) == (1, None, None, None)
    assert "fewer raters" in alone.within.reason


def test_raters_need_not_label_everything():
    rows, groups = raters()
    gaps = [[None if (place + unit) % 3 == 0 else x for unit, x in enumerate(row)] for place, row in enumerate(rows)]

    found = group_agreement(words(gaps), groups, categories=["n", "y"], draws=99)

    assert found[0].ratio > 1.0


def test_the_same_seed_gives_the_same_p_values():
    rows, groups = raters(apart=0.1)

    one, other = (group_agreement(words(rows), groups, categories=["n", "y"], draws=99, seed=4) for _ in range(2))

    assert one == other


def test_groups_that_never_met_or_used_one_label_have_no_agreement_across():
    assert "labelled no unit" in cross_agreement([["y", None]], [[None, "n"]], categories="yn").reason
    assert isinstance(cross_agreement([["y", "y"]], [["y", "y"]], categories="yn"), Undefined)


def test_clusters_widen_agreement_across():
    a, b = ["y", "n"] * 20, ["y", "n"] * 10 + ["n", "y"] * 10
    ids = [unit // 5 for unit in range(40)]

    alone, together = (cross_agreement([a], [b], categories="yn", clusters=clusters) for clusters in (None, ids))

    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_each_group_has_a_rate_of_its_own_and_the_gap_is_tested():
    rows = [[True, True, False, False]] * 6 + [[False, True, False, False]] * 6 + [[True] * 4]
    groups = ["a"] * 6 + ["b"] * 6 + ["c"]

    found = defect_rates_by_group(rows, groups)

    assert (found.rates["a"].value, found.rates["b"].value) == (0.5, 0.25)
    assert isinstance(found.rates["c"], Undefined)
    assert found.gap == pytest.approx(0.25)
    assert found.p_value < 0.01
    assert found.rates["a"].n_clusters == 6


def test_one_group_alone_has_no_gap_and_missing_labels_are_no_zeros():
    found = defect_rates_by_group([[True, None], [True, None], [None, True]], ["a"] * 3)

    assert (found.rates["a"].value, found.gap, found.p_value) == (1.0, None, None)


def test_every_rater_must_have_a_group():
    with pytest.raises(InputError, match="`groups` must name the group of each rater; got 1 for 2"):
        group_agreement([["y"], ["n"]], ["a"], categories="yn")
    with pytest.raises(InputError, match="got 1 for 2"):
        defect_rates_by_group([[True], [True]], ["a"])
    with pytest.raises(InputError, match="`fewest` must be 2 raters or more"):
        group_agreement([["y"], ["n"]], ["a", "a"], categories="yn", fewest=1)
