from __future__ import annotations

import csv
import io
from dataclasses import replace

import jsonschema
import pytest

from tests.contract.given import a_person_session
from tests.fakes.codings import CONSENSUS, WORK, coded_evidence
from tests.fakes.evidence import facts
from tests.fakes.report import assets, words
from tests.unit.reporting.results.document.test_document import schema
from theodolite.domain.dialogue import Level
from theodolite.domain.session import SessionState
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.tables import csv_text, export_tables
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.testers import task_lines, theme_blocks
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text

DONE = {"p": True, "q": False, "r": None}


@pytest.fixture(scope="module")
def evidence():
    coded = coded_evidence(replace(WORK, resolutions=(CONSENSUS,)))
    one = a_person_session(coded.run, application="blue", level=Level.FIELD_TESTING, state=SessionState.COMPLETE)
    sittings = tuple(replace(one, key=person, participant=person, task_done=done) for person, done in DONE.items())
    return replace(coded, sittings=sittings)


@pytest.fixture(scope="module")
def findings(evidence):
    return measure_study(evidence)


def test_the_results_file_conforms_to_its_schema(evidence, findings):
    document = results_document(evidence, findings, facts())
    (entry,) = document["codings"]
    (task, _) = document["tasks"]

    jsonschema.Draft202012Validator(schema()).validate(document)
    assert entry["states"] == {"coded by one person": 1, "coded alike": 3, "settled by consensus": 1}
    assert (entry["themes"][0]["share"]["count"], entry["themes"][0]["uncoded"]) == (1, 1)
    assert entry["quotes"][0]["text"] == "Rude!"
    assert (task["application"], task["sessions"], task["unsaid"], task["done"]["count"]) == ("blue", 3, 1, 1)


def test_the_page_shows_themes_and_what_they_exclude(evidence, findings):
    subject = subject_of(evidence, findings, facts(), words())
    (block,) = theme_blocks(subject)

    assert block.table.texts[0] == ("vague", "blue, field testing", "1 of 4", "1 not coded by two")
    assert block.quotes == (("Rude!", "blue, field testing; cold"),)
    assert task_lines(subject)[0] == "blue, field testing: 1 of 2; 1 session without a word about it"


def test_the_report_has_the_section_only_with_content(evidence, findings):
    without = replace(findings, codings=(), tasks=())

    assert "What testers wrote and did" in report_html(evidence, findings, facts(), assets())
    assert "What testers wrote and did" not in report_html(evidence, without, facts(), assets())


def test_unreleased_quotes_appear_nowhere(evidence, findings):
    told = report_html(evidence, findings, facts(), assets()) + str(results_document(evidence, findings, facts()))
    told += "".join(map(csv_text, export_tables(evidence)))

    assert "Rude!" in told
    assert "It dodged" not in told


def test_the_summary_reports_testers(evidence, findings):
    told = " ".join(summary_text(evidence, findings, facts(), words()).split())

    assert "Testers 5 responses of 5 testers in field testing" in told
    assert "task done by own account in field testing: blue 1 of 2" in told
    assert "1 answer in own words not coded by two yet" in told


def rows(evidence, name):
    texts = {table.name: csv_text(table) for table in export_tables(evidence)}
    return list(csv.DictReader(io.StringIO(texts[name])))


def test_the_export_has_a_row_for_each_answer_of_testers(evidence):
    found = rows(evidence, "responses")

    assert len(found) == 10
    assert {one["tester"] for one in found} == {"T001", "T002", "T003", "T004", "T005"}
    assert [one["value"] for one in found if one["is_released"] == "yes"] == ["Rude!"]
    assert {one["value"] for one in found if one["is_released"] == "no"} == {""}


def test_the_export_has_codings_resolutions_and_the_codebook(evidence):
    codings, (resolution,) = rows(evidence, "codings"), rows(evidence, "coding_resolutions")

    assert [one["code"] for one in codings].count("") == 2
    assert {one["coder"] for one in codings} == {"C001", "C002"}
    assert (resolution["outcome"], resolution["code"], resolution["n_participants"]) == ("consensus", "cold", "2")
    assert [one["code"] for one in rows(evidence, "codes")] == ["vague", "cold"]


def test_a_study_without_testers_has_no_tables_of_them(evidence):
    names = {table.name for table in export_tables(replace(evidence, responses=(), coding=None))}

    assert not {"responses", "codings"} & names
