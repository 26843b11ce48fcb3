"""Criteria are stated, stated anew with a reason, and never overwritten."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.fakes.store import FakeStore
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.study_parts import CriteriaSubject
from theodolite.usecases.measuring import criteria_of, state_criteria

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ABOUT = CriteriaSubject.SELECTION


def state(store, text, **more):
    return state_criteria(store, "spoilers", ABOUT, text, by="olga", now=NOW, **more)


def test_a_later_statement_does_not_replace_the_earlier_one():
    store = FakeStore()
    state(store, "People who read English.")
    state(store, "People who read English well.", why="Slang was misread.", follows=1)

    assert [(one.revision, one.why) for one in criteria_of(store, "spoilers")] == [(1, ""), (2, "Slang was misread.")]
    assert criteria_of(store, "another") == ()


def test_subjects_are_numbered_separately():
    store = FakeStore()
    state(store, "People who read English.")
    other = state_criteria(store, "spoilers", CriteriaSubject.RECRUITMENT, "By notice.", by="olga", now=NOW)

    assert other.revision == 1


@pytest.mark.parametrize(
    ("text", "more", "kind", "words"),
    [
        (" ", {"follows": 1, "why": "x"}, InputError, "need some words"),
        ("First.", {"follows": 1, "why": "x"}, InputError, "say this already"),
        ("Second.", {"follows": 1}, InputError, "what has changed and why"),
        ("Second.", {"why": "x"}, Conflict, "revision 1 meanwhile"),
    ],
)
def test_an_invalid_statement_is_refused_with_a_message(text, more, kind, words):
    store = FakeStore()
    state(store, "First.")

    with pytest.raises(kind, match=words):
        state(store, text, **more)
    assert len(criteria_of(store, "spoilers")) == 1
