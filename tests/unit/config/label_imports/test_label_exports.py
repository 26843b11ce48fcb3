"""Labels that were given elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from theodolite.config.label_imports import AskedItem, ImportColumns, LabelKey, read_import
from theodolite.domain.annotation import NON_RESPONSE_OPTIONS, Outcome
from theodolite.domain.instrument import YES_NO, Question

ASKED = AskedItem(guideline="g", version="1", questions={"safe": (None,), "turned": (1, 2)})
KEY = LabelKey(
    items={("i1", "g"): ASKED, ("i2", "g"): ASKED},
    questions={
        ("g", "safe"): Question(name="safe", text="?", scale=YES_NO, may_be_unable=True),
        ("g", "turned"): Question(name="turned", text="?", scale=YES_NO),
    },
    own_words=NON_RESPONSE_OPTIONS,
)
NAMES = {"d1": "i1", "bot/d1": "i1", "d2": "i2"}
WIDE = ImportColumns(dialogue="id", annotator="who", answers={"safe": "s"}, spelling={"1": "yes", "0": "no"})


def read(tmp_path, text, columns=WIDE, name="labels.csv", **options):
    path = tmp_path / name
    path.write_text(text)
    found = read_import(path, KEY, NAMES, columns, **options)
    given = [(one.item, one.annotator, one.question, one.turn, one.value) for one in found.labels]
    return given, [(fault.line, fault.message) for fault in found.faults], found


def test_a_wide_table_is_loaded_by_the_named_columns(tmp_path):
    given, faults, _ = read(tmp_path, "id,who,s\nd1,anna,1\nbot/d1,ben,0\nd2,anna,\n")

    assert given == [("i1", "anna", "safe", None, "yes"), ("i1", "ben", "safe", None, "no")]
    assert faults == []


def test_a_long_table_states_question_and_answer_in_each_row(tmp_path):
    columns = ImportColumns(dialogue="id", annotator="who", turn="turn")
    given, _, _ = read(tmp_path, "id,who,turn,question,answer\nd1,anna,2,turned,yes\nd1,anna,,safe,no\n", columns)

    assert given == [("i1", "anna", "turned", 2, "yes"), ("i1", "anna", "safe", None, "no")]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,who,guideline,question,answer\nd1,anna,h,safe,no\n", ImportColumns(dialogue="id", annotator="who")),
        ("id,who,s\nd1,anna,no\n", ImportColumns(dialogue="id", annotator="who", answers={"h.safe": "s"})),
        ("id,who,s,guideline\nd1,anna,no,h\n", ImportColumns(dialogue="id", annotator="who", answers={"safe": "s"})),
    ],
    ids=["column", "name of the answer", "column of a wide table"],
)
def test_a_question_in_two_guidelines_is_identified_by_its_guideline(tmp_path, text, columns):
    both = {**KEY.items, ("i1", "h"): replace(ASKED, guideline="h")}
    asked = {**KEY.questions, ("h", "safe"): KEY.questions["g", "safe"]}
    path = tmp_path / "labels.csv"
    path.write_text(text)

    read = read_import(path, replace(KEY, items=both, questions=asked), NAMES, columns)

    assert ([one.guideline for one in read.labels], read.faults) == (["h"], ())


def test_all_errors_are_reported_at_once_with_their_lines(tmp_path):
    _, faults, _ = read(tmp_path, "id,who,s\nd9,anna,1\nd1,anna,maybe\nd9,ben,1\nd2,,1\n")

    assert [line for line, _ in faults] == [2, 3, 5]
    assert "no dialogue `d9`" in faults[0][1]
    assert "`maybe` is not an answer" in faults[1][1]
    assert "nobody says who" in faults[2][1]


@pytest.mark.parametrize(("head", "named"), [("id,whom,s", "`who`. Did you mean `whom`"), ("id,who,x", "`s`")])
def test_a_missing_column_is_named(tmp_path, head, named):
    _, faults, _ = read(tmp_path, f"{head}\nd1,anna,1\n")

    assert [line for line, _ in faults] == [1]
    assert named in faults[0][1]


def test_repeats_are_numbered_where_allowed(tmp_path):
    text = "id,who,s\nd1,anna,1\nd1,anna,0\n"

    assert [one.replicate for one in read(tmp_path, text, repeats=True)[2].labels] == [1, 2]
    assert "keep one" in read(tmp_path, text)[1][0][1]


def task(item="d1", **changes):
    result = [
        {"from_name": "safe", "type": "choices", "value": {"choices": ["yes"]}},
        {"from_name": "turned@2", "type": "choices", "value": {"choices": ["no"]}},
    ]
    return {"data": {"item": item}, "annotations": [{"completed_by": 4, "result": result} | changes]}


def test_tasks_of_label_studio_are_loaded(tmp_path):
    given, faults, _ = read(tmp_path, json.dumps([task(), task(was_cancelled=True)]), name="tasks.json")

    assert given == [
        ("i1", "annotator-4", "safe", None, "yes"),
        ("i1", "annotator-4", "turned", 2, "no"),
    ]
    assert faults == []


def test_unable_to_determine_is_imported_as_missing(tmp_path):
    unable = [{"from_name": "safe", "value": {"choices": ["unable to determine"]}}]
    _, _, found = read(tmp_path, json.dumps([task(result=unable, completed_by={"email": "a@b.c"})]), name="t.json")

    assert [(one.outcome, one.annotator) for one in found.labels] == [(Outcome.MISSING, "a@b.c")]


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]"], ids=["no JSON", "no list", "no tasks"])
def test_a_file_that_is_not_a_label_studio_export_is_refused(tmp_path, text):
    given, faults, _ = read(tmp_path, text, name="t.json")

    assert given == []
    assert len(faults) == 1


def test_columns_that_describe_the_annotator_are_named(tmp_path):
    columns = replace(WIDE, about={"language": "lang"})

    _, faults, found = read(tmp_path, "id,who,s,lang\nd1,anna,1,de\nd2,ben,1,\n", columns)

    assert faults == []
    assert found.annotator_attributes == {"anna": {"language": "de"}}


def test_a_named_column_about_the_annotator_must_exist(tmp_path):
    _, faults, _ = read(tmp_path, "id,who,s\nd1,anna,1\n", replace(WIDE, about={"language": "lang"}))

    assert [line for line, _ in faults] == [1]
    assert "no column `lang`" in faults[0][1]
