"""`theodolite init DIR --from study.yaml` makes a folder of one file."""

from __future__ import annotations

import pytest

from tests.fakes.terminal import theodolite

STUDY = """\
study: shop
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {buy: {scripts: {hello: Hello}}}
guidelines: {keen: {ask: Keen?, defect: "== no"}, spare: {ask: Spare?, defect: "== no"}}
judges: {k: {guideline: keen, model: m}}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mine.yaml").write_text(STUDY)
    return tmp_path / "mine.yaml"


def test_the_written_files_the_unchanged_parts_and_the_next_step_are_printed(file, tmp_path):
    said = theodolite("init", tmp_path / "new", "--from", file)

    words = " ".join(said.out.split())
    assert said.code == 0, said.said
    assert "the same study in 2 files, version " in words
    assert "new/scenarios/buy.yaml" in words
    assert "Kept guideline `spare`: nobody who labels names it" in words
    assert theodolite("check", tmp_path / "new").code == 0


def test_nothing_is_overwritten(file, tmp_path):
    theodolite("init", tmp_path / "new", "--from", file)

    again = theodolite("init", tmp_path / "new", "--from", file)

    assert again.code == 2
    assert "is there already" in again.said


def test_the_errors_of_the_study_are_shown(file, tmp_path):
    file.write_text(STUDY.replace("ask: Keen?", "aks: Keen?"))

    said = theodolite("init", tmp_path / "new", "--from", file)

    assert said.code == 2
    assert "unknown key `aks`" in said.said
    assert not (tmp_path / "new").exists()
