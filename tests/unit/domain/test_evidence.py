"""Records of a run become columns, in any order."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from tests.fakes.evidence import changed, live_evidence, xstest_evidence

from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.answers import AnswerRecord, UnitFailure
from theodolite.domain.evidence import AnswerTableBuilder, answer_table


@pytest.fixture(scope="module")
def recorded():
    return xstest_evidence()


def records_of(columns):
    return dict(columns.by_position())


def test_every_answer_has_the_position_of_its_session(recorded):
    table = recorded.answers
    position = recorded.sessions.find("gpt4/v2-31")
    (given,) = (one for one in recorded.archive.annotations((position,)) if one.annotator == "annotator 1")

    records = table.columns("annotator 1", "refusal", "label").at(position)

    assert records == (AnswerRecord(outcome=Outcome.ANSWERED, value=given.answers[0].value),)
    assert table.has_annotation(position, "annotator 1")


def test_final_labels_belong_to_the_reference(recorded):
    final = next(recorded.archive.adjudications())
    position = recorded.sessions.find(
        next(one.label for one in recorded.archive.dialogues() if one.key == final.dialogue)
    )

    records = recorded.answers.columns("reference", final.guideline, final.question).at(position)

    assert records == (AnswerRecord(outcome=final.outcome, value=final.value),)


def test_the_order_of_records_does_not_matter(recorded):
    archive = recorded.archive
    forth = answer_table(recorded.sessions, archive.dialogues(), archive.annotations(), archive.adjudications())
    backwards = [[*records][::-1] for records in (archive.dialogues(), archive.annotations(), archive.adjudications())]

    back = answer_table(recorded.sessions, *backwards)

    assert {key: records_of(columns) for key, columns in back.answers.items()} == {
        key: records_of(columns) for key, columns in forth.answers.items()
    }
    assert (back.dialogues, back.unreadable_replies) == (forth.dialogues, forth.unreadable_replies)


@pytest.mark.parametrize("order", [(0, 0, 1), (0, 1, 0), (1, 0, 0)], ids=["at once", "between", "last"])
def test_the_latest_annotation_of_a_session_counts(recorded, order):
    builder = AnswerTableBuilder(recorded.sessions)
    dialogues = [*recorded.archive.dialogues()][:2]
    for dialogue in dialogues:
        builder.add_dialogue(dialogue)
    first = next(one for one in recorded.archive.annotations() if one.annotator == "annotator 1")
    for number, place in enumerate(order):
        answer = replace(first.answers[0], value=f"label {number}")
        builder.add_annotation(replace(first, dialogue=dialogues[place].key, answers=(answer,)))

    columns = builder.table().columns("annotator 1", "refusal", "label")

    latest = {place: f"label {number}" for number, place in enumerate(order)}
    found = {position: [record.value for record in records] for position, records in columns.by_position()}
    assert found == {recorded.sessions.find(dialogues[place].label): [value] for place, value in latest.items()}


def test_columns_are_read_by_arrays_without_a_copy(recorded):
    columns = recorded.answers.columns("annotator 1", "refusal", "label")

    positions = np.frombuffer(columns.position, dtype=np.int32)
    values = np.frombuffer(columns.value, dtype=np.int32)

    assert positions.tolist() == list(columns.position)
    assert [columns.texts[code] for code in values[:5]] == [columns.record(row).value for row in range(5)]


def test_equal_dialogues_are_one_object(recorded):
    assert len({id(dialogue) for dialogue in recorded.answers.dialogues}) < 5


def test_failures_of_sessions_are_recorded_where_no_dialogue_was_completed():
    evidence = live_evidence()

    failed = evidence.answers.failures

    assert failed
    assert all(evidence.answers.dialogues[place] is None for place, (one,) in failed.items() if not one.annotator)
    assert all(isinstance(one, UnitFailure) for some in failed.values() for one in some)


def test_texts_can_be_excluded_while_their_presence_is_recorded():
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

    seen = [changed(evidence, annotations=[replace(first, answers=(answer,))]).answers for answer in (quoted, bare)]

    assert [table.support[0] for table in seen] == [3, 0]
    assert [list(table.unreadable_replies.values()) for table in seen] == [[], ["Hm."]]
    assert [table.is_labelled for table in seen] == [True, False]


def test_records_without_a_planned_session_are_ignored():
    evidence = live_evidence(held=7)

    table = answer_table(evidence.sessions, (), evidence.archive.annotations())

    assert (table.n_completed, dict(table.answers), table.is_labelled) == (0, {}, False)


def test_a_builder_is_garbage_collected_at_once(recorded):
    builder = AnswerTableBuilder(recorded.sessions)
    for dialogue in recorded.archive.dialogues():
        builder.add_dialogue(dialogue)
    for annotation in recorded.archive.annotations():
        builder.add_annotation(annotation)
    table, seen = builder.table(), weakref.ref(builder)

    gc.disable()  # a run looks for cycles seldom
    try:
        del builder
        assert seen() is None
    finally:
        gc.enable()
    assert table.n_completed
