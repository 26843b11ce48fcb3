from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import grouped_evidence, split
from tests.fakes.report import assets, words
from tests.unit.reporting.results.document.test_document import schema
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.judges import group_tables, rater_tables
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.results.document import results_document


@pytest.fixture(scope="module")
def evidence():
    return grouped_evidence(split)


@pytest.fixture(scope="module")
def findings(evidence):
    return measure_study(evidence)


def test_a_table_states_the_agreement_of_each_group_and_who_is_in_none(evidence, findings):
    table, _ = group_tables(subject_of(evidence, findings, facts(), words()))

    assert table.title.startswith("By age: groundedness, score, ")
    assert table.notes == ("1 person did not say; 1 person is in groups of fewer than three, which are not named.",)
    assert [row[0] for row in table.rows] == ["old (3 people)", "young (3 people)"]
    assert table.texts[0][1].startswith("1")
    assert "adjusted p" in table.rows[0][3]


def test_the_report_has_the_section_only_if_groups_are_known(evidence, findings):
    without = replace(findings, annotator_groups=())

    assert "Agreement within groups of people" in report_html(evidence, findings, facts(), assets())
    assert "Agreement within groups of people" not in report_html(evidence, without, facts(), assets())


def test_no_page_names_a_group_of_one(evidence, findings):
    assert "oldest" not in report_html(evidence, findings, facts(), assets())


def test_the_results_file_conforms_to_its_schema(evidence, findings):
    document = results_document(evidence, findings, facts())
    (entry,) = document["annotator_groups"]

    jsonschema.Draft202012Validator(schema()).validate(document)
    assert (entry["attribute"], entry["people"], entry["unknown"], entry["in_small_groups"]) == ("age", 7, 1, 1)
    assert [(group["group"], group["people"]) for group in entry["groups"]] == [("old", 3), ("young", 3)]
    assert entry["groups"][0]["within"]["value"] == 1


def test_defects_by_group_and_raters_have_separate_tables(evidence, findings):
    about = subject_of(evidence, findings, facts(), words())
    _, table = group_tables(about)
    (raters,) = rater_tables(about)

    assert [row[0] for row in table.rows] == ["old", "young"]
    assert all("%" in cell for _, *cells in table.texts for cell in cells)
    assert "adjusted p" in table.notes[0]
    assert len(raters.rows) == 9
