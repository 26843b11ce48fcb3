"""Interdependencies: correlations across dialogues, what a child hides, fronts and weights."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes.trees import FEW, answers, design, leaf, leaves
from tests.golden.trees.rows import rows
from theodolite.domain.estimate import Undefined
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.linking import (
    fisher_exact,
    link_nodes,
    pareto_front,
    without_children,
)

NODES = {name: {"summary": "mean", "of": f"{name}a"} for name in "xyz"} | {
    f"{name}a": answers(name, "0-5") for name in "xyz"
}


def given(**columns):
    return table_of([one for name, column in columns.items() for one in leaves(name, *column)])


def links(table, *names: str, nodes=NODES):
    return link_nodes(design(nodes), table, names or ("x", "y"), draws=FEW)


def test_what_goes_together_across_dialogues_is_told_with_an_interval():
    table = given(x=[0, 1, 2, 3, 4, 5, 5, 4], y=[0, 1, 2, 3, 4, 4, 5, 5])
    found = links(table)[0]

    assert found.rank.value == pytest.approx(0.95, abs=0.05)
    assert found.rank.low < found.rank.value <= found.rank.high
    assert found.p_value < 0.01


def test_a_correlation_by_way_of_a_third_vanishes_when_it_is_held():
    rng = np.random.default_rng(3)
    third = rng.integers(0, 6, 400)
    first, second = ((third + rng.integers(0, 3, 400)) % 6 for _ in "ab")
    table = given(x=np.clip(first, 0, 5), y=np.clip(second, 0, 5), z=third)
    found = {(one.first, one.second): one for one in links(table, "x", "y", "z")}
    together = found["x", "y"]

    assert abs(together.partial) < abs(together.rank.value)


def test_shared_questions_are_declared_since_they_alone_make_a_correlation():
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


@pytest.mark.parametrize(
    ("table", "chance"), [((3, 1, 1, 3), 0.4857143), ((10, 2, 3, 15), 0.0005367), ((0, 5, 5, 0), 0.0079365)]
)
def test_fishers_exact_chance(table, chance):
    assert fisher_exact(*table) == pytest.approx(chance, abs=1e-7)


def test_the_published_rank_correlations_of_a_judge_and_people():
    judged = list(rows("llm_rubric"))
    nodes = {n: {"summary": "mean", "of": f"{n} answers"} for n in ("people", "most likely", "expected")} | {
        f"{n} answers": answers(n, "1-4", "lower_is_worse") for n in ("people", "most likely", "expected")
    }
    columns = {"people": "Q0", "most likely": "judge_argmax", "expected": "judge_expected"}
    table = table_of(leaf(n, f"d{row['dialogue']}", row[c]) for row in judged for n, c in columns.items())
    found = {one.second: one.rank.value for one in links(table, *columns, nodes=nodes) if one.first == "people"}

    assert found == pytest.approx({"most likely": 0.086990, "expected": 0.086675}, abs=5e-7)


def test_a_child_that_hides_or_carries_the_others_is_told():
    nodes = {**NODES, "top": {"summary": "mean", "of": ["x", "y"]}}
    found = {one.child: one for one in without_children(design(nodes), given(x=[4], y=[1])) if one.node == "top"}

    assert (found["x"].value, found["x"].change) == (1, -1.5)
    assert found["y"].change == 1.5


def test_nobody_on_the_front_is_outdone():
    assert pareto_front({"a": [1, 3], "b": [2, 2], "c": [3, 3], "d": [1, 3]}) == ("a", "b", "d")
    assert pareto_front({"a": [1, float("nan")], "b": [0, 0]}) == ("a", "b")
