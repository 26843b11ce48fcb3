"""Tables that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from tests.unit.measurement.study.test_order_metrics import suggested
from theodolite.reporting.exporting.tables import ExportTable, csv_text, export_tables


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1 to 3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20A1"]
)
def test_no_cell_starts_like_a_formula(cell):
    text = csv_text(ExportTable(name="answers", columns=("note",), rows=[(cell,)]))

    assert list(csv.reader(io.StringIO(text, newline=""))) == [["note"], [f"'{cell}"]]


@pytest.mark.parametrize("cell", [-7, "-7", "a = b", ""])
def test_numbers_and_words_are_unchanged(cell):
    text = csv_text(ExportTable(name="answers", columns=("note", "end"), rows=[(cell, "x")]))

    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [str(cell), "x"]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_no_cell_starts_another_row(end):
    cell = f"harmless{end}=HYPERLINK(1)"
    text = csv_text(ExportTable(name="answers", columns=("note", "end"), rows=[(cell, "x")]))

    assert text == f'note,end\n"{cell}",x\n'


def test_answers_state_whether_suggestions_were_shown():
    (table,) = [table for table in export_tables(suggested(10)) if table.name == "answers"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    shown = [row["suggestions"] for row in rows if row["annotator_kind"] == "person"]
    assert {text: shown.count(text) for text in set(shown)} == {"shown": 20, "hidden": 40}
    assert {row["suggestions"] for row in rows if row["annotator_kind"] != "person"} == {""}
