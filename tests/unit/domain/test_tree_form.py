"""The plain form of designs: read and written, and every misfit named."""

from __future__ import annotations

import json

import pytest
from tests.fakes.trees import answers, design, leaf

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.tree_form import (
    LeafSet,
    TreeFile,
    design_document,
    design_of,
    leaves_of,
    range_of,
    tree_file_document,
    tree_file_of,
)

FULL = {
    "tree": "full",
    "edition": "1.2",
    "about": "Every kind of node",
    "nodes": {
        "root": {"summary": "aggregation", "of": ["harm", "gain"], "beside": ["kinds", "words"]},
        "harm": {"summary": "mean", "of": {"scaled": 2, "worst": 0}, "side": "negative", "weigh": "answer"},
        "gain": {"summary": "mean", "of": ["reversed"], "side": "positive", "title": "Gain", "about": "What it helps"},
        "scaled": {"transform": "rescale", "of": "slider", "scale": "0..1"},
        "reversed": {"transform": "reverse", "of": "good"},
        "worst": {"per": "dialogue", "summary": "max", "of": "coded"},
        "coded": {
            "transform": "recode", "of": "broke", "values": {"yes": 1.0, "no": 0.0, "unable": None},
            "orientation": "higher_is_worse",
        },
        "kinds": {"summary": "set", "of": ["broke"]},
        "words": {"summary": "texts", "of": ["why"]},
        "slider": answers("s.slider", "1..10", levels=["red teaming"], held_by=["person"], by=["ann"]),
        "good": answers("s.good", "0.5..4.25", "lower_is_worse"),
        "broke": {"answers": "s.broke", "scale": ["yes", "no", "unable"]},
        "why": {"answers": "s.why", "scale": "text"},
    },
    "dimensions": {
        "harm": {
            "definition": "d", "risks": ["r"], "metrics": ["m"], "criteria": ["c"], "crosswalk": {"s.broke": 2.0},
        },
    },
}  # fmt: skip


def test_a_written_tree_is_read_back_equal():
    assert design_of(design_document(design_of(FULL))) == design_of(FULL)


def test_the_plain_form_is_lossless():
    plain = {key: design_document(design_of(FULL))["nodes"][key] for key in ("coded", "slider", "scaled", "worst")}

    assert plain["coded"]["values"] == {"yes": 1.0, "no": 0.0, "unable": None}
    assert plain["slider"]["levels"] == ["red teaming"]
    assert plain["worst"] == {"per": "dialogue", "of": "coded", "summary": "max"}


@pytest.mark.parametrize(
    ("text", "ends"), [("1-10", (1, 10)), ("-2..2", (-2, 2)), ("0 to 0.5", (0, 0.5)), ("0\u20131", (0, 1))]
)
def test_ranges_have_several_notations(text, ends):
    found = range_of(text)

    assert (found.lowest, found.highest) == ends


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"sumary": "max"}, "needs one of `answers`, `transform`, `per` or `summary`"),
        ({"summary": "max", "off": ["a"]}, "unknown key `off`. Did you mean `of`?"),
        ({"summary": "mean", "of": {"a": "x"}}, "`weight of a` must be a number; got 'x'"),
        ({"summary": "mean", "of": {"a": -1}}, "the weight of `a` must be a number of 0 or more"),
        ({"summary": "mean", "of": ["a", "a"]}, "names `a` twice; give a weight instead"),
        ({"transform": "revers", "of": "a"}, "mean `reverse`?"),
        ({"per": "day", "of": "a", "summary": "max"}, "expected one of dialogue, turn"),
        ({"answers": "q", "scale": "some"}, "scale `some` is not understood"),
        ({"answers": "q", "scale": "5-1"}, "lower end below"),
        ({"answers": "q", "orientation": "up"}, "expected one of higher_is_worse"),
        ({"summary": "mean", "of": "a", "side": "negativ"}, "mean `negative`?"),
        ("max", "must be a mapping"),
    ],
)
def test_an_error_is_explained_in_words(node, message):
    with pytest.raises(InputError) as refusal:
        design({"top": node, "a": answers("a")})

    assert message in str(refusal.value)


def test_all_errors_are_reported_at_once_with_their_paths():
    with pytest.raises(InputError) as refusal:
        design({"x": {"summary": "max", "off": 1}, "y": {"answers": "q", "scale": "?"}}, dimensiosn={})

    assert [fault.path for fault in refusal.value.faults] == [
        ("dimensiosn",), ("nodes", "x", "off"), ("nodes", "y"),
    ]  # fmt: skip


DESIGN = design({"top": {"summary": "mean", "of": "a"}, "a": answers("g.a")})

LEAVES = (
    leaf("g.a", "d1", "1", by="ann", kind="person", turn=2, replicate=3, cluster="Ana", level="field testing"),
    leaf("g.a", "d2", None, outcome=Outcome.REFUSED, held_by="person", groups={"age": "old"}),
)

FILE = TreeFile(
    design=DESIGN,
    sets=(
        LeafSet(application="one", leaves=LEAVES, scenarios=("shop",), versions={"guideline g": "abc"}),
        LeafSet(application="two", leaves=()),
    ),
)


def test_a_written_tree_file_is_read_back_equal():
    assert tree_file_of(json.loads(json.dumps(tree_file_document(FILE)))) == FILE


def test_a_design_alone_is_a_tree_file_without_leaves():
    plain = {"tree": "small", "nodes": {"a": answers("g.a")}}

    assert tree_file_of(plain).sets == ()


def test_values_beside_the_leaves_are_informational():
    document = tree_file_document(FILE, {"one": [{"node": "top", "value": 99}]})

    assert tree_file_of(document) == FILE


def test_an_application_is_named_where_there_are_several():
    assert FILE.of("two").application == "two"
    with pytest.raises(InputError, match=r"one of the file's applications \(one, two\); none is named"):
        FILE.of()
    with pytest.raises(InputError, match=r"got `oen`. Did you mean `one`\?"):
        FILE.of("oen")


@pytest.mark.parametrize("plain", [{}, {"format": "other/1", "tree": {}}, {"format": "theodolite-tree/1", "tree": "x"}])
def test_other_files_are_distinguished_from_tree_files(plain):
    with pytest.raises(InputError, match="expected a tree"):
        tree_file_of(plain)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x", "a leaf must be a mapping"),
        ({"question": "q"}, "a leaf needs `session`"),
        ({"question": "q", "session": "d", "vlaue": 1}, "unknown key `vlaue`. Did you mean `value`?"),
        ({"question": "q", "session": "d", "value": True}, "`value` must be a text or a number"),
        ({"question": "q", "session": "d", "value": 1, "turn": 0}, "`turn` must be a whole number from 1"),
        ({"question": "q", "session": "d", "outcome": "faild"}, "mean `failed`?"),
        ({"question": "q", "session": "d", "value": "1", "outcome": "missing"}, "only an `answered` one"),
    ],
)
def test_an_invalid_leaf_is_reported_with_its_location(row, message):
    with pytest.raises(InputError) as refusal:
        leaves_of([{"question": "q", "session": "d", "value": 1}, row])

    assert f"leaves.leaves[1]: {message}" in str(refusal.value) or message in str(refusal.value)


def test_numbers_and_texts_are_the_same_answer():
    four = [leaf_.value for leaf_ in leaves_of([{"question": "q", "session": "d", "value": v} for v in (4, 4.0, "4")])]

    assert four == ["4", "4", "4"]


def test_a_leaf_without_a_value_is_missing():
    assert leaves_of([{"question": "q", "session": "d"}])[0].outcome is Outcome.MISSING
