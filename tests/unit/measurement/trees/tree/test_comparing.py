"""Comparing trees: in order, in no order, or side by side only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.trees import FEW, answers, design, leaf
from theodolite.domain.estimate import Undefined
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.measuring import Draws
from theodolite.measurement.trees.tree import MeasurementTree, TreeComparisonTable, compare_applications

NODES = {
    "top": {"summary": "mean", "of": ["x", "y"]},
    "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"},
    "a": answers("a"), "b": answers("b"),
}  # fmt: skip

DRAWS = Draws(replicates=200)


def tree(x: int, y: int, name: str = "one", n: int = 40, nodes=NODES, **more) -> MeasurementTree:
    """Return a tree with so many defects of `n` dialogues, each dialogue in a cluster of its own."""
    given = [leaf(q, f"{name}{i}", int(i < k), cluster=f"c{i}") for q, k in (("a", x), ("b", y)) for i in range(n)]
    return MeasurementTree(design=design(nodes), leaves=tuple(given), application=name, **more)


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        ((4, 4), (8, 8), "lower"),
        ((8, 8), (4, 4), "higher"),
        ((4, 8), (8, 4), "incomparable"),
        ((4, 4), (4, 4), "equal"),
        ((4, 8), (4, 9), "lower"),
    ],
)
def test_a_tree_is_ahead_only_if_no_node_disagrees(first, second, order):
    assert tree(*first).compare(tree(*second, name="two")).order == order


def test_incomparable_trees_state_where_each_is_lower():
    found = tree(4, 8).compare(tree(8, 4, name="two"))

    assert (found.lower, found.higher) == (("x",), ("y",))


def test_a_low_bad_end_reverses_the_order():
    turned = {**NODES, "a": answers("a", "0-1", "lower_is_worse"), "b": answers("b", "0-1", "lower_is_worse")}

    assert tree(4, 4, nodes=turned).compare(tree(8, 8, name="two", nodes=turned)).order == "higher"


def test_shared_clusters_are_resampled_together_and_detect_small_differences():
    paired = tree(20, 20).compare(tree(24, 24, name="two"))
    apart = tree(24, 24, name="two")
    alone = tree(20, 20).compare(
        replace(apart, leaves=tuple(replace(one, cluster=f"other {one.cluster}") for one in apart.leaves))
    )
    widths = [next(d.difference for d in found.differences if d.node == "x") for found in (paired, alone)]

    assert (paired.n_pairs, alone.n_pairs) == (40, 0)
    assert widths[0].high - widths[0].low < widths[1].high - widths[1].low


def test_differences_have_intervals_that_contain_them():
    for each in tree(4, 30).compare(tree(8, 10, name="two")).differences:
        assert each.difference.low <= each.difference.value <= each.difference.high


@pytest.mark.parametrize(
    ("other", "warning"),
    [
        (tree(4, 4, scenarios=("flight",)), "Scenarios differ (shop; flight)"),
        (tree(4, 4, scenarios=("shop",), versions={"guideline g": "2"}), "Instruments differ: guideline g"),
        (tree(4, 4, scenarios=("shop",), nodes={**NODES, "top": {"summary": "max", "of": ["x", "y"]}}), "same method"),
    ],
)
def test_incompatible_trees_are_shown_together_with_a_warning(other, warning):
    found = tree(8, 8, scenarios=("shop",)).compare(other)

    assert found.order == ""
    assert warning in found.warnings[0]


def test_a_node_without_data_on_one_side_has_no_difference():
    half = replace(tree(4, 4), leaves=tuple(one for one in tree(4, 4).leaves if one.question == "a"))
    found = half.compare(tree(4, 4, name="two"))

    assert found.order == "incomparable"
    assert isinstance(next(d.difference for d in found.differences if d.node == "y"), Undefined)


def test_a_parent_of_a_max_gets_its_interval_from_both_trees():
    highest = {**NODES, "top": {"summary": "max", "of": ["x", "y"]}}
    found = tree(4, 8, nodes=highest).compare(tree(20, 8, name="two", nodes=highest))

    assert found.differences[-1].difference.method == "difference of two intervals"


def test_equal_trees_may_have_different_leaves():
    assert tree(4, 8).equals(tree(8, 16, n=80))
    assert not tree(4, 8).equals(tree(8, 4))
    assert not tree(4, 8).equals(tree(4, 8, nodes={**NODES, "top": {"summary": "median", "of": ["x", "y"]}}))


def tabled(name: str, x: int, y: int | None) -> TreeComparisonTable:
    one = tree(x, y or 0, name)
    leaves = [leaf for leaf in one.leaves if y is not None or leaf.question == "a"]
    return TreeComparisonTable(design=one.design, table=table_of(leaves), application=name)


def standing(*applications: tuple[str, int, int | None]):
    return compare_applications([tabled(*each) for each in applications], ("x", "y"), draws=FEW)


def test_a_dominated_application_is_not_on_the_front():
    found = standing(("low", 4, 4), ("mixed", 2, 20), ("high", 20, 30))

    assert found.front == ("low", "mixed")
    assert found.front_odds["low"] > 0.9
    assert found.front_odds["high"] == 0


def test_all_pairs_are_compared_and_some_are_unordered():
    found = standing(("low", 4, 4), ("mixed", 2, 20), ("high", 20, 30))

    assert [(pair.first, pair.second, pair.order) for pair in found.comparisons] == [
        ("low", "mixed", "incomparable"), ("low", "high", "lower"), ("mixed", "high", "lower"),
    ]  # fmt: skip


def test_only_dimensions_with_data_on_all_sides_enter_the_front():
    found = standing(("low", 4, 30), ("half", 8, None))

    assert found.dimensions == ("x",)
    assert found.front == ("low",)


def test_many_applications_are_compared_with_the_first_only():
    found = standing(*((f"app{number}", number, number) for number in range(7)))

    assert {pair.first for pair in found.comparisons} == {"app0"}
    assert len(found.comparisons) == 6
