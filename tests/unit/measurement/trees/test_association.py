"""Interdependencies: correlations across dialogues, what a child hides, fronts and weights."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes.trees import FEW, answers, design, leaf, leaves
from tests.golden.trees.rows import rows
from theodolite.domain.estimate import Undefined
from theodolite.measurement.trees.association import (
    link_nodes,
    pareto_front,
    split_tree,
    without_children,
)
from theodolite.measurement.trees.leaves import table_of

NODES = {name: {"summary": "mean", "of": f"{name}a"} for name in "xyz"} | {
    f"{name}a": answers(name, "0-5") for name in "xyz"
}


def given(**columns):
    return table_of([one for name, column in columns.items() for one in leaves(name, *column)])


def links(table, *names: str, nodes=NODES):
    return link_nodes(design(nodes), table, names or ("x", "y"), draws=FEW)


def test_associations_across_dialogues_are_reported_with_an_interval():
    table = given(x=[0, 1, 2, 3, 4, 5, 5, 4], y=[0, 1, 2, 3, 4, 4, 5, 5])
    found = links(table)[0]

    assert found.rank.value == pytest.approx(0.95, abs=0.05)
    assert found.rank.low < found.rank.value <= found.rank.high
    assert found.p_value < 0.01


def test_an_indirect_correlation_vanishes_when_the_third_node_is_controlled():
    rng = np.random.default_rng(3)
    third = rng.integers(0, 6, 400)
    first, second = ((third + rng.integers(0, 3, 400)) % 6 for _ in "ab")
    table = given(x=np.clip(first, 0, 5), y=np.clip(second, 0, 5), z=third)
    found = {(one.first, one.second): one for one in links(table, "x", "y", "z")}
    together = found["x", "y"]

    assert abs(together.partial) < abs(together.rank.value)


def test_shared_questions_are_declared_because_they_cause_a_correlation():
    nodes = {**NODES, "y": {"summary": "mean", "of": ["ya", "xb"]}, "xb": answers("x", "0-5")}

    assert links(given(x=[1, 2], y=[1, 2]), nodes=nodes)[0].shared == ("x",)


def test_few_dialogues_and_constant_nodes_have_no_correlation():
    few, constant = links(given(x=[1, 2, 3], y=[1, 2, 3]))[0], links(given(x=[1] * 9, y=range(5)))[0]

    assert isinstance(few.rank, Undefined)
    assert isinstance(constant.rank, Undefined)
    assert few.p_value is None


def test_violations_that_occur_together_are_counted():
    found = links(given(x=[1, 1, 1, 0, 0, 0, 0, 0], y=[1, 1, 0, 1, 0, 0, 0, 0]))[0]

    assert (found.both, found.first_only, found.second_only, found.neither) == (2, 1, 1, 4)
    assert found.odds_ratio == pytest.approx(2.5 * 4.5 / (1.5 * 1.5))


def test_the_published_rank_correlations_of_a_judge_and_people():
    judged = list(rows("llm_rubric"))
    nodes = {n: {"summary": "mean", "of": f"{n} answers"} for n in ("people", "most likely", "expected")} | {
        f"{n} answers": answers(n, "1-4", "lower_is_worse") for n in ("people", "most likely", "expected")
    }
    columns = {"people": "Q0", "most likely": "judge_argmax", "expected": "judge_expected"}
    table = table_of(leaf(n, f"d{row['dialogue']}", row[c]) for row in judged for n, c in columns.items())
    found = {one.second: one.rank.value for one in links(table, *columns, nodes=nodes) if one.first == "people"}

    assert found == pytest.approx({"most likely": 0.086990, "expected": 0.086675}, abs=5e-7)


def test_a_child_that_hides_or_dominates_the_others_is_reported():
    nodes = {**NODES, "top": {"summary": "mean", "of": ["x", "y"]}}
    found = {one.child: one for one in without_children(design(nodes), given(x=[4], y=[1])) if one.node == "top"}

    assert (found["x"].value, found["x"].change) == (1, -1.5)
    assert found["y"].change == 1.5


def test_no_application_on_the_front_is_dominated():
    assert pareto_front({"a": [1, 3], "b": [2, 2], "c": [3, 3], "d": [1, 3]}) == ("a", "b", "d")
    assert pareto_front({"a": [1, float("nan")], "b": [0, 0]}) == ("a", "b")


SPLIT_NODES = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}


def table(**parts: tuple[int, int]):
    """Return leaves: part to (defects, dialogues)."""
    return table_of(
        leaf("a", f"{part}{n}", int(n < defects), groups={"age": part}, level="field testing")
        for part, (defects, dialogues) in parts.items()
        for n in range(dialogues)
    )


def splits(given, *groups: str):
    return {
        (each.group, each.part): each for each in split_tree(design(SPLIT_NODES), given, groups or ("age",), draws=FEW)
    }


def test_each_part_reports_its_value_and_its_dialogues():
    found = splits(table(old=(6, 12), young=(3, 12)))

    assert found["age", "old"].finding.value == 0.5
    assert found["age", "young"].n_dialogues == 12


def test_a_part_with_fewer_than_five_dialogues_is_named_and_its_value_withheld():
    found = splits(table(old=(6, 12), young=(4, 4)))["age", "young"]

    assert (found.n_dialogues, found.finding) == (4, None)


def test_parts_that_differ_are_distinguished_from_parts_that_do_not():
    far, near = splits(table(old=(28, 30), young=(2, 30))), splits(table(old=(15, 30), young=(15, 30)))

    assert far["age", "old"].p_value == pytest.approx(0.002)
    assert near["age", "old"].p_value > 0.5


def test_p_values_are_adjusted_for_all_splits():
    given = table_of(
        leaf("a", f"d{n}", int(n < 20), groups={"age": "old" if n < 20 else "young", "sex": "fm"[n % 2]}, level=lvl)
        for n in range(40)
        for lvl in ("field testing",)
    )
    alone, both = splits(given), splits(given, "age", "sex")

    assert both["age", "old"].p_value == pytest.approx(2 * alone["age", "old"].p_value)


def test_whole_clusters_are_permuted_so_that_repeats_of_a_person_count_once():
    given = table_of(
        leaf("a", f"{part}{n}", int(part == "old"), groups={"age": part}, cluster=f"{part}{n % 2}")
        for part in ("old", "young")
        for n in range(20)
    )

    assert splits(given)["age", "old"].p_value > 0.2


def test_a_single_part_is_not_tested():
    assert splits(table(old=(6, 12)))["age", "old"].p_value is None


def test_levels_of_testing_can_be_used_as_splits():
    given = table_of(
        leaf("a", f"{level}{n}", n % 2, level=level) for level in ("red teaming", "field testing") for n in range(6)
    )

    assert {part for _, part in splits(given, "level")} == {"red teaming", "field testing"}
