"""The single answers behind a leaf: those that matter first, none invented, never more than a page can bear."""

from __future__ import annotations

from tests.fakes.trees import answers, design, leaf, leaves
from theodolite.domain.annotation import Outcome
from theodolite.measurement.trees.leaves import MOST_LISTED, listed_answers, table_of

TREE = design({"top": {"summary": "mean", "of": "a"}, "a": answers("a")})
LEAF = TREE.by_name["a"]


def test_dialogues_that_raise_the_value_are_first_and_answers_without_a_value_last():
    table = table_of(leaves("a", None, 0, 1, 0.5))

    listed = listed_answers(LEAF, table, {"d3"})

    assert [(one.session, one.value) for one in listed] == [("d3", "1"), ("d2", "0"), ("d4", "0.5"), ("d1", None)]
    assert listed[-1].outcome is not Outcome.ANSWERED


def test_an_answer_is_returned_unchanged():
    given = leaf("a", "d1", 1)

    assert listed_answers(LEAF, table_of([given]), ()) == (given,)


def test_of_many_answers_the_first_are_listed_and_other_questions_none():
    table = table_of([leaf("a", f"d{number}", 0) for number in range(MOST_LISTED + 5)])

    assert len(listed_answers(LEAF, table, {f"d{MOST_LISTED + 2}"})) == MOST_LISTED
    assert listed_answers(LEAF, table, {f"d{MOST_LISTED + 2}"})[0].session == f"d{MOST_LISTED + 2}"
    assert listed_answers(LEAF, table_of(leaves("b", 1)), ()) == ()
