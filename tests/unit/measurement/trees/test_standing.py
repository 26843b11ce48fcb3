"""Standings: pairs in a partial order, a front with its odds, and what weights would change."""

from __future__ import annotations

from tests.fakes.trees import FEW
from tests.unit.measurement.trees.test_comparing import tree
from theodolite.measurement.trees.comparing import Tabled
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.standing import standing_of


def tabled(name: str, x: int, y: int | None) -> Tabled:
    one = tree(x, y or 0, name)
    leaves = [leaf for leaf in one.leaves if y is not None or leaf.question == "a"]
    return Tabled(design=one.design, table=table_of(leaves), application=name)


def standing(*applications: tuple[str, int, int | None]):
    return standing_of([tabled(*each) for each in applications], ("x", "y"), draws=FEW)


def test_whoever_is_outdone_is_not_on_the_front():
    found = standing(("low", 4, 4), ("mixed", 2, 20), ("high", 20, 30))

    assert found.front == ("low", "mixed")
    assert found.front_odds["low"] > 0.9
    assert found.front_odds["high"] == 0


def test_every_two_are_compared_and_some_are_in_no_order():
    found = standing(("low", 4, 4), ("mixed", 2, 20), ("high", 20, 30))

    assert [(pair.first, pair.second, pair.order) for pair in found.comparisons] == [
        ("low", "mixed", "incomparable"), ("low", "high", "lower"), ("mixed", "high", "lower"),
    ]  # fmt: skip


def test_only_dimensions_that_all_have_data_on_enter_the_front():
    found = standing(("low", 4, 30), ("half", 8, None))

    assert found.dimensions == ("x",)
    assert found.front == ("low",)


def test_many_applications_are_compared_with_the_first_alone():
    found = standing(*((f"app{number}", number, number) for number in range(7)))

    assert {pair.first for pair in found.comparisons} == {"app0"}
    assert len(found.comparisons) == 6
