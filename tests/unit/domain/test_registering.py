"""What is said of planned sessions becomes columns, whatever order it comes in."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
from tests.fakes.evidence import changed, live_evidence, xstest_evidence

from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.register import Failed, Said
from theodolite.domain.registering import RegisterBook, register_of


@pytest.fixture(scope="module")
def recorded():
    return xstest_evidence()


def test_every_answer_stands_at_the_place_of_its_session(recorded):
    register = recorded.register
    place = recorded.sessions.find("gpt4/v2-31")
    (given,) = (one for one in recorded.archive.annotations((place,)) if one.annotator == "annotator 1")

    said = register.said(place, "annotator 1", "refusal", "label")

    assert said == (Said(outcome=Outcome.ANSWERED, value=given.answers[0].value),)
    assert register.annotated["annotator 1"][place] == 1


def test_the_order_of_what_was_said_does_not_matter(recorded):
    archive = recorded.archive
    forth = register_of(recorded.sessions, archive.dialogues(), archive.annotations(), archive.adjudications())
    backwards = [[*records][::-1] for records in (archive.dialogues(), archive.annotations(), archive.adjudications())]

    back = register_of(recorded.sessions, *backwards)

    assert (back.columns, back.finals, back.held) == (forth.columns, forth.finals, forth.held)
    assert back.unread == forth.unread


def test_equal_entries_are_one_object(recorded):
    columns = [*recorded.register.columns.values(), recorded.register.held]

    distinct = {id(entry) for column in columns for entry in column}

    assert len(distinct) < 20


def test_failures_stand_where_nothing_was_held():
    evidence = live_evidence()

    failed = evidence.register.failures

    assert failed
    assert all(evidence.register.held[place] is None for place, (one,) in failed.items() if not one.annotator)
    assert all(isinstance(one, Failed) for some in failed.values() for one in some)


def test_words_are_left_out_but_not_whether_there_were_any():
    evidence = live_evidence()
    first = next(evidence.archive.annotations())
    quoted = Answer(
        question="score",
        outcome=Outcome.ANSWERED,
        value="2",
        reasoning="It says so.",
        evidence=(Quote(turn=1, text="so", verified=True),),
    )
    bare = Answer(question="score", outcome=Outcome.UNPARSEABLE, raw="Hm.")

    seen = [changed(evidence, annotations=[replace(first, answers=(answer,))]).register for answer in (quoted, bare)]

    assert [register.backing[0] for register in seen] == [3, 0]
    assert [list(register.unread.values()) for register in seen] == [[], ["Hm."]]
    assert [register.is_labelled for register in seen] == [True, False]


def test_what_is_of_no_planned_session_is_left_out():
    evidence = live_evidence(held=7)

    register = register_of(evidence.sessions, (), evidence.archive.annotations())

    assert (register.n_held, dict(register.columns), register.is_labelled) == (0, {}, False)


def test_a_book_is_freed_as_soon_as_nobody_writes_in_it(recorded):
    book = RegisterBook(recorded.sessions)
    for dialogue in recorded.archive.dialogues():
        book.enter_dialogue(dialogue)
    for annotation in recorded.archive.annotations():
        book.enter_annotation(annotation)
    register, seen = book.register(), weakref.ref(book)

    gc.disable()  # a run looks for cycles seldom
    try:
        del book
        assert seen() is None
    finally:
        gc.enable()
    assert register.n_held
