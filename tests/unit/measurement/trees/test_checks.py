"""What a design may not do, each with its place."""

from __future__ import annotations

import pytest

from tests.fakes.trees import answers, design
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Orientation
from theodolite.measurement.trees.checks import design_faults, kinds_of
from theodolite.measurement.trees.methods import Holds

YES_NO = {"answers": "q", "scale": ["yes", "no"]}
CASES = {
    "unknown child": (
        {"top": {"summary": "mean", "of": ["lefd"]}, "left": answers("a")},
        ("nodes", "top", "of"), "sums up `lefd`, which the tree does not have. Did you mean `left`?",
    ),
    "unknown node beside": (
        {"top": {"summary": "mean", "of": "left", "beside": ["x"]}, "left": answers("a")},
        ("nodes", "top", "beside"), "sums up `x`",
    ),
    "unknown summary": (
        {"top": {"summary": "men", "of": ["a"]}, "a": answers("a")},
        ("nodes", "top", "summary"), "unknown summary `men`. Did you mean `mean`?",
    ),
    "cycle": (
        {"x": {"summary": "mean", "of": ["y"]}, "y": {"summary": "mean", "of": ["x"]}},
        ("nodes",), "has a cycle through `x`",
    ),
    "unoriented under max": (
        {"top": {"summary": "max", "of": ["a"]}, "a": answers("a", orientation="unstated")},
        ("nodes", "top", "of"), "nothing says which end of its scale is the bad one",
    ),
    "turned under max": (
        {"top": {"summary": "max", "of": ["a"]}, "a": answers("a", orientation="lower_is_worse")},
        ("nodes", "top", "of"), "the best would pass for the worst; turn it round with a `reverse` node",
    ),
    "mixed units": (
        {"top": {"summary": "mean", "of": ["a", "b"]}, "a": answers("a"), "b": answers("b", "1-10")},
        ("nodes", "top", "of"), "mixes units under a mean: `a` runs from 0 to 1, `b` from 1 to 10; rescale",
    ),
    "mixed orientation": (
        {"top": {"summary": "mean", "of": ["a", "b"]}, "a": answers("a"), "b": answers("b", orientation="unstated")},
        ("nodes", "top", "of"), "mixes orientations under a mean: in `a` higher is worse, in `b` nothing says",
    ),
    "scale from 1": (
        {"top": {"summary": "scale-normalised median", "of": "a"}, "a": answers("a", "1-10")},
        ("nodes", "top", "of"), "whose scale runs from 1 to 10 and not from 0; rescale it first",
    ),
    "labels in a mean": (
        {"top": {"summary": "mean", "of": "a"}, "a": YES_NO},
        ("nodes", "top", "of"), "which holds labels, not numbers; recode `a` first",
    ),
    "numbers in a set": (
        {"top": {"summary": "set", "of": "a"}, "a": answers("a")},
        ("nodes", "top", "of"), "which holds numbers, not labels",
    ),
    "netted impacts": (
        {
            "top": {"summary": "mean", "of": ["harm", "gain"]},
            "harm": {"summary": "mean", "of": "a", "side": "negative"},
            "gain": {"summary": "mean", "of": "b", "side": "positive"},
            "a": answers("a"), "b": answers("b"),
        },
        ("nodes", "top"), "nets positive against negative impacts",
    ),
    "answers without a scale": (
        {"a": {"answers": "q"}}, ("nodes", "a"), "nothing tells what may answer `q`",
    ),
    "a label that is not recoded": (
        {"top": {"transform": "recode", "of": "a", "values": {"yes": 1, "nein": 0}}, "a": YES_NO},
        ("nodes", "top"), "does not say what becomes of `no`",
    ),
    "recoding to one number": (
        {"top": {"transform": "recode", "of": "a", "values": {"yes": 1, "no": 1}}, "a": YES_NO},
        ("nodes", "top"), "needs two different numbers in `values`",
    ),
    "recoding past the scale": (
        {"top": {"transform": "recode", "of": "a", "values": {"yes": 2, "no": 0}, "scale": "0-1"}, "a": YES_NO},
        ("nodes", "top", "values"), "recodes to 2, which leaves its scale 0 to 1",
    ),
    "reversed labels": (
        {"top": {"transform": "reverse", "of": "a"}, "a": YES_NO}, ("nodes", "top"), "cannot reverse labels",
    ),
    "rescaled to nothing": (
        {"top": {"transform": "rescale", "of": "a"}, "a": answers("a")}, ("nodes", "top"), "needs `scale`",
    ),
    "collapsing one number": (
        {
            "top": {"per": "dialogue", "summary": "max", "of": "m"},
            "m": {"summary": "mean", "of": "a"}, "a": answers("a"),
        },
        ("nodes", "top"), "holds one number already",
    ),
    "recoding a summary": (
        {
            "top": {"transform": "recode", "of": "m", "values": {"0": 0, "1": 1}},
            "m": {"summary": "mean", "of": "a"}, "a": answers("a"),
        },
        ("nodes", "top"), "of no single answer",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "path", "words"), CASES.values(), ids=CASES)
def test_an_error_has_its_location_and_its_text(nodes, path, words):
    faults = design_faults(design(nodes))

    assert [fault.path for fault in faults[:1]] == [path]
    assert words in faults[0].message


def test_all_errors_of_a_design_are_reported_at_once():
    one = design(
        {**CASES["mixed units"][0], "other": {"summary": "max", "of": "c"}, "c": answers("c", "0-2", "unstated")}
    )

    assert len(design_faults(one)) == 2
    with pytest.raises(InputError) as refusal:
        kinds_of(one)
    assert len(refusal.value.faults) == 2


def test_parents_of_an_invalid_node_are_not_reported_again():
    nodes = CASES["mixed units"][0] | {"above": {"summary": "max", "of": "top"}}

    assert len(design_faults(design(nodes))) == 1


def test_a_dimension_needs_its_node():
    one = design({"valid": answers("a")}, dimensions={"vaild": {"definition": "d"}})

    assert "mean `valid`?" in design_faults(one)[0].message


def test_reversing_changes_the_orientation_and_permits_a_max():
    nodes = {
        "top": {"summary": "max", "of": ["r"]}, "r": {"transform": "reverse", "of": "a"},
        "a": answers("a", "1-10", "lower_is_worse"),
    }  # fmt: skip

    assert kinds_of(design(nodes))["r"].orientation is Orientation.HIGHER_IS_WORSE


def test_both_impacts_may_be_siblings():
    nodes = CASES["netted impacts"][0] | {"top": {"summary": "aggregation", "of": ["harm", "gain"]}}

    assert design_faults(design(nodes)) == ()
    assert kinds_of(design(nodes))["top"].holds is Holds.MEMBERS


def test_the_range_of_a_product_is_the_product_of_the_ranges():
    nodes = {"top": {"summary": "product", "of": ["a", "b"]}, "a": answers("a"), "b": answers("b", "0-10")}

    assert kinds_of(design(nodes))["top"].range.highest == 10
