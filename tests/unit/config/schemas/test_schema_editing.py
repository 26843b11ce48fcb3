"""A draft's text is read as a study would read its file, and its questions are rearranged line by line."""

from __future__ import annotations

import pytest

from theodolite.config.schemas import (
    GuidelineNote,
    added,
    advised,
    doubled,
    moved,
    question_blocks,
    read_schema,
    without,
)
from theodolite.domain.errors import InputError

TEXT = """\
# tone and nothing else
categories:
  tone:
    questions:
      friendly:
        ask: Is it friendly or not?
        exemplars:
          - {text: "Reply: Gladly.", answer: yes}

      # about the whole
      pressing:
        ask: |
          Does it press

          or not?
        when: friendly == no
        exemplars:
          - {text: "Reply: Now!", answer: yes}
      short: {ask: Is it short?, exemplars: [{text: "Reply: No.", answer: yes}]}
    defect: friendly == no
"""


def read(text=TEXT):
    return read_schema(text, "tone")


def names(text):
    return [question.name for question in read(text).schema.categories[0].guideline.instrument.questions]


def test_a_complete_text_is_a_schema_without_findings():
    reading = read()

    assert reading.placed == ()
    assert [category.name for category in reading.schema.categories] == ["tone"]


def test_an_error_has_its_line_and_prevents_the_schema():
    reading = read(TEXT.replace("when: friendly", "when: freindly"))

    assert reading.schema is None
    assert [(one.line, "mean `friendly`" in one.message) for one in reading.faults] == [(16, True)]


def test_a_badly_worded_question_is_a_note_and_does_not_prevent_the_schema():
    reading = read(TEXT.replace("Is it short?", "Is it short? And clear?"))

    assert reading.schema is not None
    assert [one.line for one in reading.notes] == [19]


@pytest.mark.parametrize("text", ["", "\n", "- a\n", "categories: [", "categories: {}\n", "a: \t- b\n"])
def test_a_malformed_schema_has_errors_and_no_traceback(text):
    reading = read(text)

    assert reading.schema is None
    assert reading.faults


def test_the_range_of_a_question_excludes_the_comment_before_the_next():
    blocks = question_blocks(read().source)

    assert [(one.name, one.first, one.last) for one in blocks] == [
        ("friendly", 5, 8),
        ("pressing", 11, 18),
        ("short", 19, 19),
    ]


def test_a_question_moves_with_all_of_its_lines_and_back():
    down = moved(TEXT, read().source, "tone", "pressing", 1)
    back = moved(down, read(down).source, "tone", "pressing", -1)

    assert names(down) == ["friendly", "short", "pressing"]
    assert back == TEXT


def test_the_last_question_does_not_move_down():
    with pytest.raises(InputError, match="already the last"):
        moved(TEXT, read().source, "tone", "short", 1)


def test_a_duplicated_question_has_its_own_name():
    assert names(doubled(TEXT, read().source, "tone", "friendly")) == ["friendly", "friendly_2", "pressing", "short"]


def test_a_question_is_removed_unless_it_is_the_last_one():
    less = without(TEXT, read().source, "tone", "pressing")
    least = without(less, read(less).source, "tone", "short")

    assert names(least) == ["friendly"]
    with pytest.raises(InputError, match="the only one"):
        without(least, read(least).source, "tone", "friendly")


def test_an_added_question_is_loaded_as_one():
    more = added(TEXT, read().source, "tone")

    assert names(more)[-1] == "new_question"
    assert names(added(more, read(more).source, "tone"))[-1] == "new_question_2"


def test_questions_sharing_a_line_are_edited_as_text_only():
    text = "categories:\n  tone: {questions: {friendly: {ask: Is it?}}, defect: friendly == no}\n"
    source = read(text).source

    assert question_blocks(source) == ()
    with pytest.raises(InputError, match="edit it as text"):
        doubled(text, source, "tone", "friendly")


def noted(text, question, words="A hint counts."):
    return advised(text, read(text).source, "tone", question, GuidelineNote(words=words, thread="t-1"))


def test_comments_of_a_thread_become_notes_of_a_question_with_their_source():
    twice = noted(noted(TEXT, "friendly"), "friendly", 'Also "so".')
    whole = noted(noted(twice, ""), "", "Twice.")
    guideline = read(whole).schema.categories[0].guideline

    assert guideline.instrument.question("friendly").guidance == ("A hint counts.", 'Also "so".')
    assert guideline.guidance == ("A hint counts.", "Twice.")
    assert whole.count("# thread t-1") == 4
    assert names(whole) == names(TEXT)


@pytest.mark.parametrize("question", ["short", "nonsense"])
def test_a_note_needs_separate_lines(question):
    with pytest.raises(InputError, match="edit it as text"):
        noted(TEXT, question)


def test_notes_on_one_line_are_edited_as_text_only():
    text = TEXT.replace("        when: friendly", "        guidance: [One., Two.]\n        when: friendly")

    with pytest.raises(InputError, match="edit them as text"):
        noted(text, "pressing")
