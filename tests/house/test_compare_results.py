"""The comparison of two revisions sees each number that differs, and no renamed word."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from click.testing import CliRunner
from tools.compare_results import (
    UNCOMPARED,
    document_differences,
    export_content,
    export_differences,
    formats_in,
    number_differences,
    numbers,
    page_text,
    report,
)

from theodolite.cli.imports import export

RESULTS = {"run": {"key": "a1", "held_dialogues": 12}, "estimates": [{"value": 0.25, "sound": 3}], "generated": "now"}


def changed(**estimate):
    return {"run": {"key": "b2", "completed_dialogues": 12}, "estimates": [{"value": 0.25} | estimate]}


def archive(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("_", "."), text)
    return data.getvalue()


def test_renamed_keys_times_and_run_keys_are_not_differences():
    assert document_differences(RESULTS, changed(non_defects=3) | {"generated": "later"}) == []


def test_a_different_and_a_missing_number_are_reported_with_their_paths():
    found = document_differences(RESULTS, changed(value=0.26))

    assert found == ["estimates/0/value: 0.25 > 0.26", "estimates/0/non_defects: 3 > '(absent)'"]


def test_a_report_is_compared_by_its_numbers():
    before = "<style>a{top:7px}</style><p>9 of 57 defects, 15.8%</p><p>made 2026-01-02 03:04</p><script>f(8)</script>"
    after = "<p>9 of 57 faults, <b>15.9</b> %</p><p>made 2027-05-06 07:08 in 0:12 min, 4f4f3f24cfc4</p>"

    assert numbers(page_text(before)) == ["9", "57", "15.8"]
    assert [line[:17] for line in number_differences(page_text(before), page_text(after))] == [
        "only before: 15.8",
        "only after: 15.9 ",
    ]


def test_embedded_data_of_a_report_is_compared():
    page = '<script type="application/json">{{"rate": {}}}</script>'

    assert number_differences(page_text(page.format(0.5)), page_text(page.format(0.5))) == []
    assert len(number_differences(page_text(page.format(0.5)), page_text(page.format(0.75)))) == 2


def test_exports_are_compared_by_rows_in_the_current_format():
    before = {"csv": archive(answers_csv="id,sound\n1,2\n"), "label-studio": json.dumps([{"id": 1}]).encode()}
    after = {"answers": archive(answers_csv="id,non_defects\n1,5\n"), "csv": b"id\n1\n", "label-studio": b'[{"id": 1}]'}

    assert export_differences(before, after) == {
        "csv": ["answers.csv/0/non_defects: '2' > '5'"],
        "label-studio": [],
    }
    assert export_content(b"\xff\xfe") == "fffe"


def test_the_formats_of_exports_are_those_of_the_help():
    help_text = CliRunner().invoke(export, ["--help"]).output

    assert {"csv", "jsonl", "answers", "label-studio", "markdown"} <= {*formats_in(help_text)}
    assert not {*formats_in(help_text)} & {*UNCOMPARED}
    assert formats_in("--format [csv|label-studio]  Format of the file.") == ["csv", "label-studio"]
    with pytest.raises(ValueError, match="no formats"):
        formats_in("--out FILE")


def test_tables_and_lines_are_compared_by_rows():
    before = {"csv": b"id,n,latency_s\n1,2,0.5\n", "jsonl": b'{"n": 1}\n{"n": 2}\n', "answers": archive()}
    after = {"csv": b"id,n,latency_s\n1,3,0.7\n", "jsonl": b'{"n": 1}\n{"n": 3}\n', "answers": archive()}

    assert export_differences(before, after) == {"csv": ["/0/n: '2' > '3'"], "jsonl": ["/1/n: 2 > 3"], "answers": []}


def test_pseudonyms_are_compared_by_order_of_occurrence():
    before = [{"id": "78e50c534503"}, {"id": "3b36b8c26905"}, {"id": "78e50c534503"}]
    same = [{"id": "c0a8cc185282"}, {"id": "56eb09c4cf6b"}, {"id": "c0a8cc185282"}]
    other = [same[0], same[1], same[1]]
    exports = [{"jsonl": json.dumps(rows).encode()} for rows in (before, same, other)]

    assert export_differences(exports[0], exports[1]) == {"jsonl": []}
    assert export_differences(exports[0], exports[2]) == {"jsonl": ["/2/id: 'item 1' > 'item 2'"]}


def test_the_exit_code_states_whether_anything_differs(capsys):
    assert report({"demo: results.json": []}) == 0
    assert report({"demo: results.json": [], "demo: report.html": ["only before: 1"]}) == 1
    assert "demo: report.html: 1 differences\n  only before: 1" in capsys.readouterr().out
