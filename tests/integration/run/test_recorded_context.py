"""Judges, pages and `show` get the source material of recorded rows; empty responses keep their labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import theodolite
from theodolite.cli.main import cli
from theodolite.domain.run import FailureKind

pytestmark = pytest.mark.integration

STUDY = """study: faq
applications:
  rec: {kind: recorded, file: rows.jsonl, id: id, turn: n, prompt: question, response: answer, context: passages}
guidelines:
  backed: {ask: Does the material hold the answer?, defect: "== no", needs_context: yes}
judges:
  checker: {guideline: backed, python: "checker.py:backed", version: "1"}
annotators:
  ann: {who: person, guideline: backed, column: label}
"""
CHECKER = """def backed(turns, context):
    return "yes" if all(turn["response"] in context for turn in turns) else "no"
"""
ROWS = [
    {"id": "a", "n": 1, "question": "When?", "answer": "At nine", "passages": ["At nine.", "No."], "label": "yes"},
    {"id": "b", "n": 1, "question": "When?", "answer": "At ten", "passages": ["At nine we open."], "label": "no"},
    {"id": "c", "n": 1, "question": "When?", "answer": "At nine", "passages": "At nine we open.", "label": "yes"},
    {"id": "c", "n": 2, "question": "Who?", "answer": "Ann", "passages": "Ann has the key.", "label": "yes"},
    {"id": "d", "n": 1, "question": "When?", "answer": "", "passages": "At nine we open.", "label": "no"},
    {"id": "e", "n": 1, "question": "When?", "answer": "", "passages": "At nine we open.", "label": ""},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "checker.py").write_text(CHECKER, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return tmp_path


def test_judges_get_the_source_material_of_rows_and_of_turns(folder: Path) -> None:
    ran = theodolite.run(str(folder))
    labels = {
        dialogue.label: annotation.answers[0].value
        for dialogue in ran.evidence.archive.dialogues()
        for annotation in ran.evidence.archive.annotations()
        if annotation.dialogue == dialogue.key and annotation.annotator == "checker"
    }
    kept = {dialogue.label: dialogue for dialogue in ran.evidence.archive.dialogues()}

    assert labels["rec/a"] == labels["rec/c"] == "yes"
    assert labels["rec/b"] == "no"
    assert kept["rec/a"].context == "At nine.\n\nNo."
    assert [turn.context for turn in kept["rec/c"].turns] == ["At nine we open.", "Ann has the key."]


def test_an_empty_response_is_a_failure_unless_it_has_a_human_label(folder: Path) -> None:
    archive = theodolite.run(str(folder)).evidence.archive
    labels = {dialogue.key: dialogue.label for dialogue in archive.dialogues()}
    by_people = {labels[one.dialogue]: one.answers[0].value for one in archive.annotations() if one.annotator == "ann"}

    assert by_people == {"rec/a": "yes", "rec/b": "no", "rec/c": "yes", "rec/d": "no"}
    assert {(one.label, one.kind) for one in archive.failures()} == {("rec/e", FailureKind.EMPTY_REPLY)}


def test_the_report_and_show_contain_the_source_material(folder: Path) -> None:
    theodolite.run(str(folder))

    shown = CliRunner().invoke(cli, ["show", str(folder), "rec/c"]).output

    assert "Ann has the key." in shown
    assert "Source material of this turn" in (folder / "report.html").read_text(encoding="utf-8")
    assert "Ann has the key." in (folder / "report.html").read_text(encoding="utf-8")
