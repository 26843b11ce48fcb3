"""Label Studio's tasks as dialogues."""

from __future__ import annotations

import json

import pytest

from theodolite.config.dialogue_imports import is_tasks, read_tasks

CHAT = [{"role": "user", "content": "A"}, {"role": "assistant", "content": " B "}]
LINES = [{"author": "User 1", "text": "A"}, {"author": "Reply 1", "text": "B"}]


def read(tasks):
    return read_tasks(json.dumps(tasks).encode(), "t.json")


@pytest.mark.parametrize(
    ("said", "told"), [(CHAT, ["user", "assistant"]), (LINES, ["User", "Reply"])], ids=["chat", "paragraphs"]
)
def test_dialogue_tags_are_parsed(said, told):
    found = read([{"id": 7, "data": {"topic": "tea", "n": 3, "dialogue": said}}])

    assert [(one.conversation, one.text, list(one.metadata.values())) for one in found.remarks] == [
        ("7", "A", [told[0]]),
        ("7", "B", [told[1]]),
    ]
    assert found.about == {"7": {"topic": "tea", "n": "3"}}
    assert found.remarks[1].answers == found.remarks[0].key


def test_a_task_without_the_wrapper_of_an_export_is_parsed_too():
    assert read([{"item": "k", "chat": CHAT}]).remarks[0].conversation == "k"


def test_all_tasks_without_a_dialogue_and_duplicates_are_reported_at_once():
    twin = {"data": {"item": "k", "chat": CHAT}}

    faults = read([twin, {"data": {"text": "A"}}, twin, {"data": {"chat": []}}]).faults

    assert [one.line for one in faults] == [2, 3, 4]
    assert "expected a list of objects with `role` and `content`" in faults[0].message
    assert "is about `k`, as a task before it" in faults[1].message


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]", "[]"])
def test_a_file_without_a_list_of_tasks_is_refused(text):
    found = read_tasks(text.encode(), "t.json")

    assert (found.remarks, len(found.faults)) == ((), 1)


def test_content_other_than_text_is_stored_as_json():
    assert read([{"chat": [{"role": "user", "content": [{"text": "A"}]}]}]).remarks[0].text == '[{"text": "A"}]'


def test_task_files_are_recognised_by_their_suffix():
    assert [is_tasks(name) for name in ("a.JSON", "a.jsonl")] == [True, False]
