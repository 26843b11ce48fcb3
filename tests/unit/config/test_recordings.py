from __future__ import annotations

import hashlib

import pytest

from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.live import RecordedTurn

STUDY = """study: a
applications:
  rec: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r%s}
guidelines: {g: {ask: Fine?, defect: "== no"}}
annotators: {ann: {who: person, column: label}}
"""


def load(folder, rows, more=""):
    return load_study(folder(study_yaml=STUDY % more, rows_csv=rows))


def test_rows_of_one_item_are_repeats_without_a_turn_column(folder):
    loaded = load(folder, "id,p,r,label\nx,a,b,yes\ny,c,d,no\nx,a,e,yes\n")

    assert [(item.key, item.repeat, item.line) for item in loaded.recordings] == [("x", 1, 2), ("y", 1, 3), ("x", 2, 4)]


def test_rows_of_one_item_are_turns_with_a_turn_column(folder):
    rows = "id,n,p,r,label\nx,2,c,d,no\nx,1,a,b,\nx,1,e,f,no\n"

    first, second = load(folder, rows, ", turn: n").recordings

    assert first.turns == (RecordedTurn(prompt="a", response="b"), RecordedTurn(prompt="c", response="d"))
    assert (first.columns["label"], second.repeat, len(second.turns)) == ("no", 2, 1)


def test_each_turn_preserves_its_columns_in_the_order_of_turns(folder):
    rows = "id,n,p,r,label\nx,2,c,d,no\nx,1,a,b,\ny,1,e,f,yes\n"

    first, second = load(folder, rows, ", turn: n").recordings

    assert [row["label"] for row in first.rows] == ["", "no"]
    assert [row["label"] for row in second.rows] == ["yes"]


def test_two_labels_of_one_dialogue_are_an_error_with_both_lines(folder):
    rows = "id,n,p,r,label\nx,2,c,d,no\nx,1,a,b,Yes\nx,3,e,f,yes\ny,1,g,h,no\n"

    with pytest.raises(InvalidStudyError) as caught:
        load(folder, rows, ", turn: n")

    (fault,) = caught.value.placed
    assert (fault.file, fault.line) == ("rows.csv", 2)
    assert "has `no` in column `label`, and line 3 of the same dialogue has `Yes`" in fault.message


def test_a_question_about_turns_may_have_a_label_in_each_row(folder):
    rows = "id,n,p,r,label\nx,1,a,b,yes\nx,2,c,d,no\n"
    study = STUDY.replace("{ask: Fine?,", "{ask: Fine?, level: turn,") % ", turn: n"

    (dialogue,) = load_study(folder(study_yaml=study, rows_csv=rows)).recordings

    assert [row["label"] for row in dialogue.rows] == ["yes", "no"]


def test_a_column_splits_one_file_into_applications_in_order_of_appearance(folder):
    rows = "id,sys,p,r,label\n1,two,a,b,yes\n1,one,a,c,no\n2,two,d,e,yes\n"

    loaded = load(folder, rows, ", application: sys")

    names = [(item.name, dict(item.connection.where)) for item in loaded.study.applications]
    assert names == [("two", {"sys": "two"}), ("one", {"sys": "one"})]
    assert [(item.application, item.key) for item in loaded.recordings] == [("two", "1"), ("two", "2"), ("one", "1")]


def test_withheld_texts_are_empty_regardless_of_the_file(folder):
    rows = "id,w,p,r,label\n1,harmful,secret,secret,yes\n2,,a,b,no\n"

    first, second = load(folder, rows, ", withheld: w").recordings

    assert first.turns == (RecordedTurn(prompt="", response="", withheld="harmful"),)
    assert "secret" not in str(first)
    assert second.turns == (RecordedTurn(prompt="a", response="b"),)


def test_a_changed_file_is_a_changed_application(folder):
    rows = "id,p,r,label\nx,a,b,yes\n"

    connection = load(folder, rows).study.applications[0].connection

    assert connection.sha256 == hashlib.sha256(rows.encode()).hexdigest()
    assert connection.columns == {"id": "id", "prompt": "p", "response": "r"}


def test_rows_without_a_column_of_names_are_numbered(folder):
    study = (STUDY % "").replace(" id: id,", "")

    loaded = load_study(folder(study_yaml=study, rows_csv="p,r,label\na,b,yes\nc,d,no\n"))

    assert [item.key for item in loaded.recordings] == ["row-1", "row-2"]


def test_recorded_dialogues_have_a_scenario_even_if_the_study_names_none(folder):
    assert [item.name for item in load(folder, "id,p,r,label\nx,a,b,yes\n").study.scenarios] == ["recorded"]


def test_the_detected_format_of_files_is_recorded(folder):
    loaded = load(folder, "id;p;r;label\nx;ä;b;yes\n".encode("cp1252"))

    assert loaded.readings == ("rows.csv: 1 row, Windows-1252, semicolon",)


def test_labels_under_an_invalid_guideline_are_not_compared(folder):
    rows = "id,n,p,r,label\nx,1,a,b,yes\nx,2,c,d,no\n"
    study = STUDY.replace("{ask: Fine?,", "{ask: Fine?, level: turn, colour: red,") % ", turn: n"

    with pytest.raises(InvalidStudyError) as caught:
        load_study(folder(study_yaml=study, rows_csv=rows))

    assert [fault.file for fault in caught.value.placed] == ["study.yaml"]
