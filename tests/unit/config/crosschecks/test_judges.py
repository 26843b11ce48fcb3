"""Source material of recorded rows, and notes where a guideline needs it and gets none."""

from __future__ import annotations

import pytest

from theodolite.config.loading import load_study
from theodolite.config.recordings import context_text
from theodolite.config.yaml_source import render_diagnostics

STUDY = """study: a
models: {m: {script: [Hi]}}
applications:
  rec: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r%s}
judges: {one: {guideline: %s, model: m}}
"""
ROWS = "id,p,r,passage\nx,a,b,Open at nine.\ny,c,d,Closed on Sundays.\n"


@pytest.fixture
def loaded(folder):
    def load(more="", guideline="groundedness", rows=ROWS, extra=""):
        return load_study(folder(study_yaml=STUDY % (more, guideline) + extra, rows_csv=rows))

    return load


def notes(loaded):
    return " ".join(render_diagnostics(loaded.notes).split())


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("  Open at nine. ", "Open at nine."),
        ('["Open.", "Closed."]', "Open.\n\nClosed."),
        ("['Open.', 'Closed.']", "Open.\n\nClosed."),
        ('[{"page_content": "Open.", "score": 0.5}]', "Open."),
        ("[1] Open.", "[1] Open."),
        ("[Open]", "[Open]"),
        ("[[1], [2]]", "[[1], [2]]"),
        ("[]", ""),
        ("", ""),
    ],
)
def test_a_list_in_a_cell_is_parsed_into_passages(cell, text):
    assert context_text(cell) == text


def test_the_context_column_becomes_the_material_of_the_turn(loaded):
    recordings = loaded(", context: passage").recordings

    assert [one.turns[0].context for one in recordings] == ["Open at nine.", "Closed on Sundays."]
    assert "passage" not in recordings[0].columns


def test_the_column_is_part_of_what_the_application_is(loaded):
    connection = loaded(", context: passage").study.applications[0].connection

    assert connection.columns["context"] == "passage"


def test_a_withheld_row_has_no_material(loaded):
    rows = "id,p,r,passage,w\nx,a,b,Open at nine.,licence\n"

    (one,) = loaded(", context: passage, withheld: w", rows=rows).recordings

    assert one.turns[0].context == ""


def test_a_guideline_without_material_and_an_unused_column_are_noted(loaded):
    said = notes(loaded())

    assert "column `passage` of rows.csv looks like source material and is not used; add `context: passage`" in said
    assert "guideline `groundedness` compares responses with source material, and application `rec` has no" in said


def test_with_the_column_named_there_is_no_note(loaded):
    assert notes(loaded(", context: passage")) == ""


def test_a_column_that_splits_results_is_not_material(loaded):
    rows = ROWS.replace("passage", "source")

    assert "looks like source material" not in notes(loaded(guideline="hateful", rows=rows, extra="groups: [source]\n"))


def test_a_guideline_without_need_of_material_gives_no_note(loaded):
    assert "compares responses" not in notes(loaded(guideline="hateful"))


@pytest.mark.parametrize(("needs", "noted"), [("yes", True), ("no", False)])
def test_a_guideline_may_state_whether_it_needs_material(loaded, needs, noted):
    own = f'guidelines: {{own: {{ask: Is it so?, defect: "== no", needs_context: {needs}}}}}\n'

    assert ("compares responses" in notes(loaded(guideline="own", extra=own))) is noted


def test_a_live_scenario_without_material_is_noted(folder):
    study = """study: a
models: {m: {script: [Hi]}}
applications: {bot: {kind: model, model: m, system: "{{ context }}"}}
scenarios: {shop: {%s scripts: {a: Hello?}}}
judges: {one: {guideline: groundedness, model: m}}
"""
    without = notes(load_study(folder(study_yaml=study % "")))
    with_source = notes(load_study(folder(study_yaml=study % "source: faq.md,", faq_md="Open at nine.")))

    assert "and scenario `shop` has no source material" in without
    assert "source material" not in with_source


def test_a_human_label_on_an_empty_response_sets_its_mark(folder):
    study = """study: a
applications: {rec: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r}}
guidelines: {g: {ask: Fine?, defect: "== no"}}
annotators: {ann: {who: person, column: label}}
"""
    rows = "id,p,r,label\nx,a,,no\ny,a,,\nz,a,b,no\n"

    recordings = load_study(folder(study_yaml=study, rows_csv=rows)).recordings

    assert [one.labelled for one in recordings] == [True, False, False]
