"""Conversations cut into ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.config import threads
from theodolite.config.threads import Utterance, Ways, threads_of


def remark(key, answers="", conversation="c", at=0.0, line=1):
    return Utterance(key=key, conversation=conversation, speaker="x", text=key, line=line, answers=answers, at=at)


TREE = [remark("a"), remark("b", "a"), remark("c", "b"), remark("d", "a")]


def cut(remarks, ways):
    found = threads_of("f", remarks, ways)
    return {way.key: "".join(one.key for one in way.remarks) for way in found.ways}, found


@pytest.mark.parametrize(
    ("ways", "expected", "n_left"),
    [
        (Ways.EVERY, {"c/c": "abc", "c/d": "ad"}, 0),
        (Ways.LONGEST, {"c": "abc"}, 1),
        (Ways.TIME, {"c": "abcd"}, 0),
    ],
)
def test_a_branching_conversation_is_split_as_configured(ways, expected, n_left):
    keyed, found = cut(TREE, ways)

    assert (keyed, found.n_left) == (expected, n_left)


def test_without_branches_a_dialogue_is_named_like_its_conversation():
    assert cut([remark("a"), remark("b", "a")], Ways.EVERY)[0] == {"c": "ab"}


def test_timestamps_precede_the_order_of_the_file():
    late, early = remark("a", at=9, line=1), remark("b", at=3, line=2)

    assert cut([late, early], Ways.TIME)[0] == {"c": "ba"}


def test_a_message_without_its_predecessor_starts_a_dialogue_and_is_counted():
    keyed, found = cut([remark("a"), remark("b", "gone")], Ways.EVERY)

    assert (keyed, found.n_orphans) == ({"c/a": "a", "c/b": "b"}, 1)


def test_contradictions_are_all_reported_at_once_with_their_lines():
    told = [
        remark("a", line=1),
        remark("a", line=2),
        remark("b", "a", conversation="other", line=3),
        remark("p", "q", line=4),
        remark("q", "p", line=5),
    ]

    faults = threads_of("f", told, Ways.EVERY).faults

    assert [(one.line, one.message) for one in faults] == [
        (2, "has the id `a`, as line 1 has; each id stands once"),
        (3, "`b` of conversation `other` answers `a` of `c`"),
        (4, "`p` answers itself, by way of others"),
    ]


def test_a_conversation_tree_that_would_exceed_the_memory_limit_is_refused(monkeypatch):
    monkeypatch.setattr(threads, "MOST_STEPS", 4)

    (fault,) = threads_of("f", TREE, Ways.EVERY).faults

    assert "its ways hold 5 remarks; at most 4 are read" in fault.message


@given(st.lists(st.integers(min_value=0, max_value=30), max_size=30))
def test_every_path_goes_from_a_first_message_to_a_message_without_a_reply(parents):
    remarks = [remark(str(n), str(parent) if parent < n else "") for n, parent in enumerate(parents)]
    answered = {one.answers for one in remarks}

    ways = threads_of("f", remarks, Ways.EVERY).ways

    assert sorted(way.remarks[-1].key for way in ways) == sorted(r.key for r in remarks if r.key not in answered)
    assert {one.key for way in ways for one in way.remarks} == {one.key for one in remarks}
    assert all(
        after.answers == before.key for way in ways for before, after in zip(way.remarks, way.remarks[1:], strict=False)
    )
