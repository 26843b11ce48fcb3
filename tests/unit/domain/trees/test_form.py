"""The plain form of designs: read and written, and every misfit named."""

from __future__ import annotations

import pytest
from tests.fakes.trees import answers, design

from theodolite.domain.errors import InputError
from theodolite.domain.trees.form import design_document, design_of, range_of

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


def test_what_is_written_is_read_back():
    assert design_of(design_document(design_of(FULL))) == design_of(FULL)


def test_nothing_of_the_plain_form_is_lost():
    plain = {key: design_document(design_of(FULL))["nodes"][key] for key in ("coded", "slider", "scaled", "worst")}

    assert plain["coded"]["values"] == {"yes": 1.0, "no": 0.0, "unable": None}
    assert plain["slider"]["levels"] == ["red teaming"]
    assert plain["worst"] == {"per": "dialogue", "of": "coded", "summary": "max"}


@pytest.mark.parametrize(
    ("text", "ends"), [("1-10", (1, 10)), ("-2..2", (-2, 2)), ("0 to 0.5", (0, 0.5)), ("0\u20131", (0, 1))]
)
def test_ranges_are_written_in_several_ways(text, ends):
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
def test_a_misfit_is_said_in_words(node, message):
    with pytest.raises(InputError) as refusal:
        design({"top": node, "a": answers("a")})

    assert message in str(refusal.value)


def test_all_misfits_are_said_at_once_with_their_paths():
    with pytest.raises(InputError) as refusal:
        design({"x": {"summary": "max", "off": 1}, "y": {"answers": "q", "scale": "?"}}, dimensiosn={})

    assert [fault.path for fault in refusal.value.faults] == [
        ("dimensiosn",), ("nodes", "x", "off"), ("nodes", "y"),
    ]  # fmt: skip
