"""Designs of trees: topology, identity, and what is refused at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.trees import FEW, answers, design, leaves

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.tree import Edge, Leaf, ValueRange
from theodolite.measurement.trees.measuring import measure_tree

NODES = {
    "top": {"summary": "max", "of": ["left", "right"]},
    "left": {"summary": "mean", "of": ["a"]},
    "right": {"summary": "mean", "of": ["a", "b"]},
    "a": answers("a"),
    "b": answers("b"),
}


def test_children_come_before_their_parents():
    names = [node.name for node in design(NODES).upwards()]

    assert all(names.index(child) < names.index(top) for top, child in [("top", "left"), ("right", "a"), ("left", "a")])


def test_a_node_may_have_several_parents():
    assert design(NODES).parents["a"] == ("left", "right")
    assert design(NODES).roots == ("top",)


def test_leaves_with_two_paths_are_listed_once():
    assert design(NODES).leaves_below("top") == ("a", "b")


def test_a_cycle_is_reported_by_one_of_its_nodes():
    looped = design({"x": {"summary": "mean", "of": ["y"]}, "y": {"summary": "mean", "of": ["x"]}})

    with pytest.raises(InputError, match="cycle through `x`"):
        looped.upwards()


def test_titles_do_not_change_the_method():
    plain = design(NODES)
    titled = design({**NODES, "left": {**NODES["left"], "title": "Left", "about": "Left side"}}, about="More words")

    assert titled.method_version == plain.method_version


@pytest.mark.parametrize(
    "change",
    [{"summary": "median"}, {"of": {"a": 2}}, {"weigh": "answer"}, {"of": ["a", "b"]}],
    ids=["summary", "weight", "weighing", "topology"],
)
def test_every_setting_that_affects_values_changes_the_method(change):
    assert design({**NODES, "left": {**NODES["left"], **change}}).method_version != design(NODES).method_version


def test_the_order_of_nodes_is_not_part_of_the_method():
    assert design(dict(reversed(NODES.items()))).method_version == design(NODES).method_version


def test_a_deep_chain_of_nodes_is_evaluated():
    chain = {f"n{i}": {"summary": "mean", "of": [f"n{i + 1}"]} for i in range(3_000)} | {"n3000": answers("a")}

    assert next(iter(design(chain).upwards())).name == "n3000"


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_a_weight_is_a_number_of_0_or_more(weight):
    with pytest.raises(InputError, match="must be a number of 0 or more"):
        Edge(child="a", weight=weight)


def test_a_range_has_a_positive_length():
    with pytest.raises(InputError, match="lower end below"):
        ValueRange(lowest=1, highest=1)


def test_two_nodes_of_one_name_are_refused():
    one = design(NODES)

    with pytest.raises(InputError, match="two nodes of one name: a"):
        replace(one, nodes=(*one.nodes, one.by_name["a"]))


def test_only_an_answered_leaf_carries_a_value():
    with pytest.raises(InputError, match="only an `answered` one"):
        Leaf(question="q", session="d1", value="1", outcome=Outcome.MISSING)


SHARED = {
    "top": {"summary": "mean", "of": ["left", "right", "leaf"]},
    "left": {"summary": "mean", "of": "leaf"},
    "right": {"summary": "max", "of": "leaf"},
    "leaf": {"summary": "mean", "of": "answers"},
    "answers": {"answers": "q", "scale": "0-10", "orientation": "higher_is_worse"},
}


def test_an_expanded_tree_has_one_parent_for_each_node_and_the_same_values():
    whole = design(SHARED)
    tree = whole.expanded()
    given = leaves("q", 2, 4, 9)
    before, after = measure_tree(whole, given, draws=FEW), measure_tree(tree, given, draws=FEW)

    assert max(len(above) for above in whole.parents.values()) == 3
    assert max(len(above) for above in tree.parents.values()) == 1
    assert {name: after.node(name).value for name in whole.by_name} == {
        name: before.node(name).value for name in whole.by_name
    }
    assert sum(name.startswith("leaf") for name in tree.by_name) == 3


def test_a_proper_tree_is_unchanged():
    nodes = {"top": {"summary": "mean", "of": "answers"}, "answers": SHARED["answers"]}

    assert design(nodes).expanded() == design(nodes)


def test_an_expansion_beyond_the_limit_is_refused():
    layers = {f"n{n}": {"summary": "mean", "of": [f"n{n + 1}", f"m{n + 1}"]} for n in range(14)}
    layers |= {f"m{n}": {"summary": "mean", "of": [f"n{n + 1}", f"m{n + 1}"]} for n in range(1, 14)}
    layers |= {"n14": {"summary": "mean", "of": "answers"}, "m14": {"summary": "mean", "of": "answers"}}

    with pytest.raises(InputError, match="more than 5,000 nodes"):
        design({**layers, "answers": SHARED["answers"]}).expanded()
