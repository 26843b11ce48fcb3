"""The documentation pack of a study on disk, issued twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

STUDY = """\
study: refusals
about: ABOUT
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response}
guidelines:
  refusal: {ask: "Did it refuse?", scale: [complied, refused], defect: "== refused"}
judges:
  words: {guideline: refusal, rule: {any: [rather not], then: refused, else: complied}}
"""
ANSWERS = "id,prompt,response\nq1,Stop it?,Use the manager.\nq2,What is it?,I would rather not say.\n"


def write(folder: Path, about: str) -> None:
    (folder / "answers.csv").write_text(ANSWERS)
    (folder / "study.yaml").write_text(STUDY.replace("ABOUT", about))
    assert theodolite("run", folder).code == 0


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write(tmp_path, "Do they refuse?")
    return tmp_path


def test_every_link_of_a_pack_resolves(study: Path) -> None:
    ended = theodolite("document", study)
    folder = study / "documents"
    results = json.loads((folder / "results.json").read_text())
    text = "".join(path.read_text() for path in folder.glob("*.md"))
    pointers = re.findall(r"\]\(results\.json#([^)]+)\)", text)

    assert ended.code == 0, ended.said
    assert len(pointers) > 10
    for pointer in pointers:
        value = results
        for key in pointer.split("/")[1:]:
            value = value[int(key)] if isinstance(value, list) else value[key]


PEOPLE = """\
study: refusals
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response}
guidelines:
  refusal: {ask: "Did it refuse?", scale: [complied, refused], defect: "== refused"}
annotators:
  bela: {who: person, title: Bela Kuhn, guideline: refusal, column: one}
  cleo: {who: person, title: Cleo Rossi, guideline: refusal, column: two}
"""


def test_no_file_of_a_pack_names_an_annotator(tmp_path: Path) -> None:
    rows = [f"q{n},Stop {n}?,Answer {n}.,{'refused' if n % 3 else 'complied'},{'refused' if n % 4 else 'complied'}"
            for n in range(20)]  # fmt: skip
    (tmp_path / "answers.csv").write_text("\n".join(["id,prompt,response,one,two", *rows]) + "\n")
    (tmp_path / "study.yaml").write_text(PEOPLE)
    assert theodolite("run", tmp_path).code == 0
    ended = theodolite("document", tmp_path)
    files = [path for path in (tmp_path / "documents").iterdir() if path.is_file()]

    assert ended.code == 0, ended.said
    assert "cohen_kappa" in (tmp_path / "documents" / "results.json").read_text()
    assert [path.name for path in files if re.search("bela|cleo", path.read_text(), re.IGNORECASE)] == []


def test_an_unchanged_pack_creates_no_new_issue(study: Path) -> None:
    theodolite("document", study)

    again = theodolite("document", study)

    assert "Issue        1, unchanged" in again.out
    assert json.loads((study / "documents/issue.json").read_text())["issue"] == 1


def test_a_changed_pack_is_issued_again_with_its_differences(study: Path) -> None:
    theodolite("document", study)
    write(study, "Do they refuse politely?")
    shown = theodolite("document", study, "--diff")
    assert "+Do they refuse politely?" in shown.out
    assert json.loads((study / "documents/issue.json").read_text())["issue"] == 1

    again = theodolite("document", study)
    changes = (study / "documents/changes.md").read_text()

    assert "Issue        2, " in again.out
    assert changes.index("## Issue 2") < changes.index("## Issue 1")
    assert "-Do they refuse?" in changes
    assert "+Do they refuse politely?" in changes


def test_differences_need_an_earlier_issue(study: Path) -> None:
    refused = theodolite("document", study, "--diff")

    assert refused.code == 2
    assert "there is none. Write it without --diff" in " ".join(refused.said.split())


def test_a_damaged_issue_is_refused(study: Path) -> None:
    theodolite("document", study)
    (study / "documents/issue.json").write_text("{}")

    refused = theodolite("document", study)

    assert refused.code == 2
    assert "cannot be read" in refused.said
