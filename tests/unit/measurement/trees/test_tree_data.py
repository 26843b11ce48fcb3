"""Which dialogues a node speaks of, and which of them lift it."""

from tests.fakes.trees import FEW, answers, design, leaf, leaves
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.measuring import measure_tree
from theodolite.measurement.trees.tree_data import with_dialogues

NODES = {
    "top": {"summary": "max", "of": ["x", "y"]},
    "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b"),
}  # fmt: skip


def reached(nodes, given):
    plain, table = design(nodes), table_of(given)
    finding = with_dialogues(measure_tree(plain, table, draws=FEW), plain, table)
    return {node.node: (node.dialogues, node.raised) for node in finding.nodes}


def test_a_node_names_the_dialogues_that_have_an_answer_below_it():
    found = reached(NODES, [*leaves("a", 0, 1, None, 0.5), leaf("b", "d3", 1)])

    assert found["x"] == (("d1", "d2", "d4"), ("d2", "d4"))
    assert found["y"] == (("d3",), ("d3",))
    assert found["top"] == (("d1", "d2", "d3", "d4"), ("d2", "d3", "d4"))


def test_answers_themselves_name_who_was_asked_and_lift_nothing():
    assert reached(NODES, leaves("a", 0, 1))["a"] == (("d1", "d2"), ())


def test_a_child_of_weight_0_brings_no_dialogue():
    nodes = {**NODES, "top": {"summary": "mean", "of": {"x": 1, "y": 0}}}

    assert reached(nodes, [*leaves("a", 0), leaf("b", "d2", 1)])["top"] == (("d1",), ())


def test_words_have_no_lowest_value():
    nodes = {"kinds": {"summary": "set", "of": "k"}, "k": {"answers": "k", "scale": ["rude", "kind"]}}

    assert reached(nodes, leaves("k", "rude", "kind"))["kinds"] == (("d1", "d2"), ())
