"""Splits: parts with their numbers, the few withheld, and differences tested."""

from __future__ import annotations

import pytest

from tests.fakes.trees import FEW, answers, design, leaf
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.splitting import split_tree

NODES = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}


def table(**parts: tuple[int, int]):
    """Return leaves: part to (defects, dialogues)."""
    return table_of(
        leaf("a", f"{part}{n}", int(n < defects), groups={"age": part}, level="field testing")
        for part, (defects, dialogues) in parts.items()
        for n in range(dialogues)
    )


def splits(given, *groups: str):
    return {(each.group, each.part): each for each in split_tree(design(NODES), given, groups or ("age",), draws=FEW)}


def test_each_part_has_its_number_and_its_dialogues():
    found = splits(table(old=(6, 12), young=(3, 12)))

    assert found["age", "old"].finding.value == 0.5
    assert found["age", "young"].n_dialogues == 12


def test_a_part_of_fewer_than_five_is_named_and_its_value_withheld():
    found = splits(table(old=(6, 12), young=(4, 4)))["age", "young"]

    assert (found.n_dialogues, found.finding) == (4, None)


def test_parts_that_differ_are_told_from_parts_that_do_not():
    far, near = splits(table(old=(28, 30), young=(2, 30))), splits(table(old=(15, 30), young=(15, 30)))

    assert far["age", "old"].p_value == pytest.approx(0.002)
    assert near["age", "old"].p_value > 0.5


def test_p_values_are_corrected_for_all_that_was_split():
    given = table_of(
        leaf("a", f"d{n}", int(n < 20), groups={"age": "old" if n < 20 else "young", "sex": "fm"[n % 2]}, level=lvl)
        for n in range(40)
        for lvl in ("field testing",)
    )
    alone, both = splits(given), splits(given, "age", "sex")

    assert both["age", "old"].p_value == pytest.approx(2 * alone["age", "old"].p_value)


def test_whole_clusters_change_parts_so_that_one_person_is_not_taken_for_many():
    given = table_of(
        leaf("a", f"{part}{n}", int(part == "old"), groups={"age": part}, cluster=f"{part}{n % 2}")
        for part in ("old", "young")
        for n in range(20)
    )

    assert splits(given)["age", "old"].p_value > 0.2


def test_one_part_alone_is_not_tested():
    assert splits(table(old=(6, 12)))["age", "old"].p_value is None


def test_levels_of_testing_can_be_split_by_too():
    given = table_of(
        leaf("a", f"{level}{n}", n % 2, level=level) for level in ("red teaming", "field testing") for n in range(6)
    )

    assert {part for _, part in splits(given, "level")} == {"red teaming", "field testing"}
