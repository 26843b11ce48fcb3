"""The three trees that NIST's pilot published, from the shipped tree file."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import pytest

from tests.golden.trees.rows import HERE
from theodolite.domain.annotation import Outcome
from theodolite.domain.tree import Leaf
from theodolite.measurement.trees.tree import MeasurementTree

LEVELS = {"MT": "model testing", "RT": "red teaming", "FT": "field testing"}
WHO = {"annotator": ("person", "annotators"), "perception": ("tester", "testers")}
PUBLISHED = json.loads((HERE / "pilot.json").read_text(encoding="utf-8"))
SYSTEMS = ("A_travel_planner", "B_tv_summarization", "C_meal_planner")


def leaf(level: str, part: str, item: str, value: float | None) -> Leaf:
    return Leaf(
        question=item,
        session=level,
        value=None if value is None else str(value),
        outcome=Outcome.MISSING if value is None else Outcome.ANSWERED,
        kind=WHO[part][0],
        level=LEVELS[level],
        held_by="person",
    )


@cache
def values(system: str) -> dict[str, float | None]:
    text = (resources.files("theodolite") / "resources/trees/aria-pilot.yaml").read_text(encoding="utf-8")
    given = [
        leaf(level, part, item, value)
        for level, parts in PUBLISHED["items"].items()
        for part, items in parts.items()
        for item, value in zip(items, PUBLISHED[system].get(f"{level}.{part}", ()), strict=True)
    ]
    return MeasurementTree.from_text(text).with_leaves(given).evaluate()


def node(name: str) -> str:
    level, _, part = name.partition(".")
    if name == "root":
        return "validity"
    return f"{LEVELS[level]} by {WHO[part][1]}" if part else LEVELS[level]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_internal_node_is_the_published_one(system):
    published = PUBLISHED[system]["published"]
    found = {name: values(system)[node(name)] for name in published}

    assert len(published) == 9
    assert found == pytest.approx(published, abs=0.00645)  # the published items have two decimals


def test_a_missing_item_is_dropped_instead_of_zero():
    assert values("A_travel_planner")["RT DD 1"] is None


def test_a_mean_instead_of_the_median_of_field_testers_gives_another_value():
    items = PUBLISHED["A_travel_planner"]["FT.perception"]

    assert sum(items) / len(items) == pytest.approx(2.33, abs=0.01)
    assert values("A_travel_planner")["field testing by testers"] == pytest.approx(1.67)
