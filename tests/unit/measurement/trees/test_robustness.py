"""Contextual robustness: gap and spread of nodes between contexts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.fakes.trees import FEW, answers, design, leaf
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.robustness import (
    between_contexts,
    gap_interval,
    largest_spread,
    node_robustness,
)

NODES = {"top": {"summary": "mean", "of": "points"}, "points": answers("q", "0-10")}

BCG = (
    (-0.8893, 0.3256),
    (-1.5854, 0.1946),
    (-1.3481, 0.4154),
    (-1.4416, 0.0200),
    (-0.2175, 0.0512),
    (-0.7861, 0.0069),
    (-1.6209, 0.2230),
    (0.0120, 0.0040),
    (-0.4694, 0.0564),
    (-1.3713, 0.0730),
    (-0.3394, 0.0124),
    (0.4459, 0.5325),
    (-0.0173, 0.0714),
)
"""Log risk ratios and variances of 13 trials of the BCG vaccine: Colditz et al. (1994), JAMA 271:698-702."""


def table(**values):
    """Return leaves of dialogues whose group `scenario` is the name of the argument."""
    return table_of(
        leaf("q", f"{scenario}{number}", value, groups={"scenario": scenario})
        for scenario, column in values.items()
        for number, value in enumerate(column)
    )


def robustness(given, *contexts: str, nodes=NODES):
    return node_robustness(design(nodes), given, contexts or ("scenario",), draws=FEW)


def test_the_spread_of_the_vaccine_trials_is_the_published_one():
    """Viechtbauer (2007) and R's metafor 4: tau squared by Paule-Mandel 0.3181, Q-profile 0.1197 to 1.1115."""
    spread = between_contexts([y for y, _ in BCG], [math.sqrt(v) for _, v in BCG])

    assert [round(end**2, 4) for end in spread] == [0.3181, 0.1197, 1.1115]


def test_values_that_differ_by_chance_have_no_spread():
    assert between_contexts([1.0, 1.1, 0.9], [1.0, 1.0, 1.0])[:2] == (0.0, 0.0)


def test_a_spread_needs_two_values_with_errors():
    with pytest.raises(InputError, match="two values or more"):
        between_contexts([1.0], [1.0])
    with pytest.raises(InputError, match="above 0"):
        between_contexts([1.0, 2.0], [1.0, 0.0])


def test_the_interval_of_a_gap_has_its_coverage_in_simulated_studies():
    """The bounds hold all pairs at once, so they cover the true gap at least as often as stated."""
    rng = np.random.default_rng(5)
    true, error = np.array([2.0, 2.5, 4.0]), 0.5
    z = 2.3877  # normal quantile at Sidak's level of three pairs, 0.95 ** (1 / 3)
    hits = 0
    for _ in range(400):
        values = rng.normal(true, error)
        low, high = gap_interval(list(values), [(v - z * error, v + z * error) for v in values])
        hits += low <= 2.0 <= high

    assert hits >= 380


def test_a_node_that_varies_between_scenarios_states_by_how_much():
    found = robustness(table(calm=[1, 2, 1, 2, 1, 2, 1, 2], heated=[7, 8, 7, 8, 7, 8, 7, 8]))[0]

    assert (found.node, found.context, found.lowest, found.highest) == ("top", "scenario", "calm", "heated")
    assert isinstance(found.gap, Estimate)
    assert isinstance(found.spread, Estimate)
    assert found.gap.value == pytest.approx(6.0)
    assert 0 < found.gap.low < 6.0 < found.gap.high
    assert found.spread.value == pytest.approx(6.0 / math.sqrt(2), rel=0.05)
    assert found.gap.n == 16


def test_equal_contexts_have_a_gap_whose_interval_starts_at_0():
    found = robustness(table(calm=[1, 2, 3, 4, 5, 6], heated=[1, 2, 3, 4, 5, 6]))[0]

    assert (found.gap.value, found.gap.low) == (0.0, 0.0)
    assert found.gap.high > 1.0
    assert (found.spread.value, found.spread.low) == (0.0, 0.0)
    assert found.spread.high == pytest.approx(found.gap.high / math.sqrt(2))
    assert (found.lowest, found.highest) == ("calm", "heated")


def test_the_interval_of_a_spread_does_not_shrink_for_equal_contexts():
    """Q-profile alone gives 0.00 to 0.00 for equal contexts, and for very similar ones hardly more."""
    calm = [1, 2, 3, 4, 5, 6] * 4
    highs = [robustness(table(calm=calm, heated=[*calm[1:], end]))[0].spread.high for end in (1, 2, 3)]

    assert min(highs) > 0.5
    assert max(highs) < 1.5 * min(highs)


def test_the_interval_of_a_spread_covers_the_simulated_spread():
    """Q-profile alone covers 93% here, because the contexts are fixed and not drawn from a normal distribution."""
    rng = np.random.default_rng(3)
    true, z = np.array([-0.5, 0.0, 0.5]), 2.3877  # normal quantile at Sidak's level of three pairs
    hits = 0
    for _ in range(300):
        values = list(rng.normal(true, 1.0))
        value, low, high = between_contexts(values, [1.0] * 3)
        widest = largest_spread(gap_interval(values, [(v - z, v + z) for v in values])[1], 3)
        hits += low <= 0.5 <= (min(high, widest) if value else widest)

    assert hits >= 285


@pytest.mark.parametrize("values", [(0.0, 6.0), (0.0, 0.0, 6.0), (0.0, 2.0, 4.0, 6.0)], ids=["two", "three", "four"])
def test_no_spread_exceeds_the_limit_set_by_the_gap(values):
    assert np.std(values, ddof=1) <= largest_spread(6.0, len(values)) + 1e-12


def test_contexts_without_an_error_have_no_certain_gap():
    """Medians of answers that are all alike have intervals of a single point."""
    nodes = {"top": {"summary": "median", "of": "points"}, "points": answers("q", "0-10")}
    found = robustness(table(calm=[4] * 8, heated=[4] * 8), nodes=nodes)[0]

    assert (found.gap.value, found.gap.low, found.gap.high) == (0.0, None, None)
    assert isinstance(found.spread, Undefined)


def test_a_small_context_is_named_and_withheld():
    found = robustness(table(calm=[1, 2, 3, 4, 5], heated=[9, 9, 9, 9]))[0]

    assert [(value.part, value.n_dialogues, value.result is None) for value in found.values] == [
        ("calm", 5, False),
        ("heated", 4, True),
    ]
    assert isinstance(found.gap, Undefined)
    assert isinstance(found.spread, Undefined)


def test_missing_answers_count_in_their_context():
    found = robustness(table(calm=[1, 2, 3, 4, 5, None], heated=[9, 9, 9, 8, 9, 9]))[0]

    assert (found.values[0].outcomes.planned, found.values[0].outcomes.missing) == (6, 1)


def test_a_node_with_one_context_is_excluded():
    assert robustness(table(calm=[1, 2, 3, 4, 5])) == ()
    assert robustness(table(calm=[1, 2, 3, 4, 5]), "level", "tester type") == ()


def test_levels_and_tester_types_are_contexts():
    given = table_of(
        leaf("q", f"{level}{number}", value + number % 2, level=level, held_by=held_by)
        for level, held_by, value in (("model_testing", "script", 1), ("red_teaming", "person", 6))
        for number in range(8)
    )
    found = robustness(given, "level", "tester type")

    assert [(each.context, each.highest) for each in found] == [("level", "red_teaming"), ("tester type", "person")]
