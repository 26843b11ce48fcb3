"""The tree as people use it: from text, computed, and written again."""

from __future__ import annotations

import json

import pytest

from tests.fakes.trees import answers, design, leaves
from theodolite.domain.errors import InputError
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.methods import SummaryMethod, methods_with
from theodolite.measurement.trees.tree import MeasurementTree

NODES = {"top": {"summary": "mean", "of": "a"}, "a": answers("a", "0-5")}
TREE = MeasurementTree(design=design(NODES), leaves=tuple(leaves("a", 1, 3, 5)), application="bot", scenarios=("shop",))


def test_a_tree_survives_a_json_round_trip():
    assert MeasurementTree.from_text(json.dumps(TREE.to_dict())) == TREE


def test_a_tree_can_be_computed_from_columns():
    columns = MeasurementTree(design=design(NODES), leaves=table_of(TREE.leaves))

    assert columns.evaluate() == TREE.evaluate() == {"top": 3}
    with pytest.raises(InputError, match="leaves in columns"):
        columns.to_dict()


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "tree: [", "a: b: c"])
def test_an_invalid_tree_is_refused_with_a_message(text):
    with pytest.raises(InputError, match="expected a tree"):
        MeasurementTree.from_text(text)


def test_a_design_with_errors_is_not_a_tree():
    with pytest.raises(InputError, match=r"cannot be used: nodes\.top\.of"):
        MeasurementTree(design=design({"top": {"summary": "mean", "of": "b"}, "a": answers("a")}))


def test_a_custom_summary_is_computed_with_its_interval():
    methods = methods_with([SummaryMethod(name="our/share-of-top@1", combine=lambda v, w: sum(
        weight for value, weight in zip(v, w, strict=True) if value == 5) / sum(w))])  # fmt: skip
    nodes = {**NODES, "top": {"summary": "our/share-of-top@1", "of": "a"}}
    tree = MeasurementTree(design=design(nodes), leaves=tuple(leaves("a", *[5, 1, 1, 1] * 10)), methods=methods)
    result = tree.bootstrap(replicates=50).node("top").result

    assert result.value == 0.25
    assert result.low < 0.25 < result.high


def test_an_unregistered_summary_is_an_error():
    with pytest.raises(InputError, match="unknown summary `our/x@1`"):
        MeasurementTree(design=design({**NODES, "top": {"summary": "our/x@1", "of": "a"}}))
