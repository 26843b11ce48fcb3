"""Trees as lines of a terminal."""

from __future__ import annotations

import pytest

from tests.fakes.trees import FEW, answers, design, leaf, leaves
from tests.unit.measurement.trees.tree.test_comparing import tree
from theodolite.measurement.trees.measuring import measure_tree
from theodolite.reporting.terminal.trees import comparison_lines, design_lines, summary_words, tree_lines

NODES = {
    "top": {"summary": "aggregation", "of": {"x": 1, "y": 2}, "beside": ["kinds"]},
    "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b"),
    "kinds": {"summary": "set", "of": "k"}, "k": {"answers": "k", "scale": ["rude", "kind"]},
}  # fmt: skip


def small(*given):
    return measure_tree(
        design(NODES), given or [*leaves("a", 1, 0), *leaves("k", "rude")], draws=FEW, application="bot"
    )


def test_a_tree_is_drawn_in_a_terminal():
    text = "\n".join(tree_lines(small(), width=100))

    assert text.startswith("small, bot\ntop: side by side  [aggregation; 2 dialogues, 2 answers]\n")
    assert "  x: 0.50 (" in text
    assert "  y: no data  [mean; 0 dialogues, 0 answers]" in text
    assert "  kinds: rude: 1  [set; 1 dialogue, 1 answer]" in text


def test_depth_is_configurable():
    assert len(tree_lines(small(), depth=1)) == 2


def test_missing_counts_are_shown_beside_every_node():
    text = "\n".join(tree_lines(small(leaf("a", "d1", 1), leaf("a", "d2", None)), width=200))

    assert "x: 1.00" in text
    assert "[mean; 1 dialogue, 1 answer, 1 missing]" in text


def test_a_design_in_a_terminal_shows_weights_other_than_one():
    assert design_lines(design(NODES))[:4] == ["small", "top  [aggregation]", "  x  [mean]", "    a  [answers to a]"]
    assert "  y, weight 2  [mean]" in design_lines(design(NODES))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((4, 4), (8, 8), "one is nowhere higher, and lower at 3 nodes."),
        ((8, 8), (4, 4), "two is nowhere higher, and lower at 3 nodes."),
        ((4, 4), (4, 4), "one and two are equal at every node."),
        ((4, 8), (8, 4), "Neither is ahead, and no overall score is made."),
    ],
)
def test_a_comparison_ends_with_a_sentence(first, second, words):
    lines = comparison_lines(tree(*first).compare(tree(*second, name="two"), replicates=50))

    assert words in " ".join(lines)
    assert any(line.startswith("  x: ") and " -> " in line for line in lines)


def test_incompatible_trees_have_no_order():
    found = tree(4, 4, scenarios=("a",)).compare(tree(8, 8, name="two", scenarios=("b",)), replicates=50)

    assert "Side by side only, in no order:" in comparison_lines(found)


def test_a_tree_without_data_is_reported_as_such():
    assert summary_words([measure_tree(design(NODES), [], draws=FEW, application="bot")]) == (
        "small, the highest branch of each: bot no data."
    )
