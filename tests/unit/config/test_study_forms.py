"""Forms of study files come from the JSON Schemas, and write what a person would write."""

from __future__ import annotations

import json

import pytest

from theodolite.config.load_context import shipped_text
from theodolite.config.study_forms import Widget, removed, schema_name, study_form, with_entry, with_fields
from theodolite.domain.errors import InputError

SCHEMA = "study.schema.json"

STUDY = """\
study: support   # the name
applications:
  bot: {kind: http, url: "http://127.0.0.1/chat", body: {q: "{{ prompt }}"}}
scenarios:
  hours:
    turns: 3     # short
    permitted: [opening hours]
levels:
  red_teaming: {people: 20}
"""


def field(text, at, key, **more):
    form = study_form(text, SCHEMA, at, **more)
    return next(field for field in (*form.fields, *form.more) if field.key == key)


def test_every_key_of_the_study_has_a_field_with_its_description():
    form = study_form(STUDY, SCHEMA, "")
    described = json.loads(shipped_text(f"schemas/{SCHEMA}"))["properties"]

    assert {field.key for field in (*form.fields, *form.more)} == set(described)
    assert all(field.help for field in (*form.fields, *form.more))


@pytest.mark.parametrize(
    ("at", "key", "widget"),
    [
        (".", "title", Widget.TEXT),
        (".", "about", Widget.AREA),
        (".", "assign", Widget.CHOICE),
        (".", "groups", Widget.LINES),
        (".", "applications", Widget.LINK),
        ("applications/bot", "stream", Widget.CHOICE),
        ("applications/bot", "body", Widget.YAML),
        ("applications/bot", "parallel", Widget.NUMBER),
        ("scenarios/hours", "permitted", Widget.LINES),
        ("levels/red_teaming", "people", Widget.NUMBER),
        ("event", "zone", Widget.TEXT),
    ],
)
def test_the_schema_decides_how_a_value_is_edited(at, key, widget):
    assert field(STUDY, at, key).widget is widget


def test_a_number_has_its_limits_and_a_choice_its_options():
    assert field(STUDY, "scenarios/hours", "turns").minimum == 1
    assert field(STUDY, "annotation", "pass_mark").maximum == 1
    assert field(STUDY, "applications/bot", "stream").choices == ("yes", "no")
    assert field(STUDY, "scenarios/hours", "turns").line == 6


def test_a_save_writes_the_changed_fields_only():
    form = study_form(STUDY, SCHEMA, "scenarios/hours")
    sent = {field.at: field.value for field in (*form.fields, *form.more)}
    sent |= {"scenarios/hours/turns": "5", "scenarios/hours/goal": "Find out\r\nthe hours."}

    after = with_fields(STUDY, form, sent)

    added = "    goal: |-\n      Find out\n      the hours.\n"
    expected = STUDY.replace("turns: 3 ", "turns: 5 ").replace("levels:", f"{added}levels:")
    assert after == expected


def test_an_emptied_field_removes_its_key_and_an_unknown_one_is_ignored():
    form = study_form(STUDY, SCHEMA, "scenarios/hours")

    after = with_fields(STUDY, form, {"scenarios/hours/turns": "", "study": "other"})

    assert after == STUDY.replace("    turns: 3     # short\n", "")


def test_a_new_entry_gets_the_fields_of_its_kind():
    assert study_form(STUDY, SCHEMA, "applications").kinds == ("recorded", "model", "http", "python", "aria")
    form = study_form(STUDY, SCHEMA, "applications/other", kind="aria")
    assert [field.key for field in form.fields] == ["kind", "class"]

    after = with_fields(STUDY, form, {"applications/other/kind": "aria", "applications/other/class": "a.b:C"})

    assert after == STUDY.replace("scenarios:", "  other:\n    kind: aria\n    class: a.b:C\nscenarios:")


def test_the_kind_of_a_new_entry_alone_writes_nothing():
    form = study_form(STUDY, SCHEMA, "applications/other", kind="aria")

    assert with_fields(STUDY, form, {"applications/other/kind": "aria"}) == STUDY


def test_entries_of_texts_are_added_and_parts_removed():
    form = study_form(STUDY, SCHEMA, "gates")

    assert with_entry(STUDY, form, "tone", "upper <= 20%") == STUDY + "gates:\n  tone: upper <= 20%\n"
    assert removed(STUDY, study_form(STUDY, SCHEMA, "levels/red_teaming")) == STUDY.partition("levels:")[0]
    with pytest.raises(InputError, match="name"):
        with_entry(STUDY, form, "", "x")


def test_items_of_a_list_of_mappings_are_added_at_the_end():
    form = study_form(STUDY, SCHEMA, "applications/bot/claims/0")

    after = with_fields(STUDY, form, {"applications/bot/claims/0/text": "It knows hours."})

    assert "claims: [{text: It knows hours.}]}" in after


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("study.yaml", "study.schema.json"),
        ("questionnaires/after.yaml", "questionnaire.schema.json"),
        ("schemas/tone.yaml", "annotation-schema.schema.json"),
        ("consent.md", ""),
        ("other.yaml", ""),
    ],
)
def test_files_have_the_forms_of_their_folder(file, schema):
    assert schema_name(file, main="study.yaml") == schema


def test_other_files_have_separate_forms():
    assert study_form(shipped_text("trees/by-guideline.yaml"), "tree.schema.json", "").fields
