"""Trees by themselves: a change of the method on the same leaves, and contexts from a file."""

from __future__ import annotations

import pytest

from tests.fakes.trees import FEW, answers, design, leaf
from theodolite.domain.errors import InputError
from theodolite.domain.tree_form import LeafSet, TreeFile
from theodolite.measurement.trees.methods import BUILT_IN
from theodolite.usecases.trees import rescore, score_file

OLD = {"top": {"summary": "mean", "of": "points"}, "points": answers("q", "0-10")}
NEW = {
    "top": {"summary": "max", "of": ["part", "other"]},
    "part": {"summary": "mean", "of": "points"},
    "other": {"summary": "mean", "of": "more"},
    "points": answers("q", "0-10"),
    "more": answers("unasked", "0-10"),
}


def file(*values: int) -> TreeFile:
    given = tuple(leaf("q", f"d{n}", value, groups={"age": "ab"[n % 2]}) for n, value in enumerate(values))
    return TreeFile(design=design(OLD), sets=(LeafSet(application="bot", leaves=given),))


def test_the_same_leaves_under_two_methods_differ_in_the_method_only():
    (change,) = rescore(file(2, 4, 9), design(NEW), application="", draws=FEW, methods=BUILT_IN)
    (top,) = change.comparison.differences

    assert (top.node, top.first, top.second) == ("top", 5.0, 5.0)
    assert (top.difference.value, top.difference.low, top.difference.high) == (0.0, 0.0, 0.0)
    assert not change.same_method
    assert change.only_new == ("part", "other", "more")
    assert change.unanswered == ("unasked",)


def test_the_same_method_is_recognised():
    (change,) = rescore(file(2, 4), design(OLD), application="bot", draws=FEW, methods=BUILT_IN)

    assert change.same_method
    assert [each.difference.value for each in change.comparison.differences] == [0.0]


def test_a_design_without_leaves_cannot_be_scored_again():
    with pytest.raises(InputError, match="no leaves to score again"):
        rescore(TreeFile(design=design(OLD)), design(NEW), application="", draws=FEW, methods=BUILT_IN)


def test_contexts_come_from_the_groups_of_the_leaves():
    (finding,) = score_file(file(*range(10)), application="", draws=FEW, methods=BUILT_IN, contexts=True)

    assert [(each.node, each.context) for each in finding.robustness] == [("top", "age")]
    assert finding.robustness[0].gap.value == pytest.approx(1.0)
