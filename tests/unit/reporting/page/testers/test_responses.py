from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import assets, words
from tests.fakes.responses import BOTH, evidence, response, said
from tests.unit.reporting.results.document.test_document import schema
from theodolite.domain.dialogue import Level
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.testers import response_blocks
from theodolite.reporting.results.document import results_document


@pytest.fixture(scope="module")
def heard():
    aged = [replace(one, groups={"age": "old" if one.participant in "pq" else "young"}) for one in BOTH]
    secret = response("x", "blue", 7, level=Level.RED_TEAMING, more=(said("open", "My name is Ina."),))
    return evidence(*aged, secret, response("y", "green", 1, submitted=False))


@pytest.fixture(scope="module")
def findings(heard):
    return measure_study(heard)


@pytest.fixture(scope="module")
def blocks(heard, findings):
    return response_blocks(subject_of(heard, findings, facts(), words()))


def test_levels_are_separate_and_state_their_testers(blocks):
    assert [block.title for block in blocks] == ["Red teaming: after", "Field testing: after"]
    assert blocks[1].about == "8 responses of 4 testers; 1 not handed in, not in it."


def test_a_question_shows_counts_middle_and_top_of_each_application(blocks):
    question, blue, green = blocks[1].table.rows[0]

    assert question == "Was it bad?"
    assert [column.title for column in blocks[1].table.columns[1:]] == ["blue", "green"]
    assert (green.value, green.details) == ("6: 4", ("median 6 (quartiles 6 and 6)", "6 or 7: 4 of 4"))
    assert blue.details[1] == "6 or 7: 0 of 4"


def test_comparisons_state_the_number_of_testers_and_the_method(blocks):
    question, sides, test = blocks[1].contrasts.rows[0]

    assert (question, sides) == ("Was it bad?", "blue and green")
    assert test.startswith("p 0.125, adjusted ")
    assert test.endswith("4 testers, permutation within people, exact")


def test_groups_of_testers_have_separate_tables(blocks):
    assert [table.caption for table in blocks[1].groups] == ["age: old", "age: young"]


def test_the_results_file_conforms_to_its_schema_and_contains_no_texts_of_testers(heard, findings):
    document = results_document(heard, findings, facts())

    jsonschema.Draft202012Validator(schema()).validate(document)
    assert [entry["level"] for entry in document["responses"]] == ["red teaming", "field testing"]
    assert "Ina" not in str(document)


def test_the_page_shows_the_section_and_no_texts_of_testers(heard, findings):
    page = report_html(heard, findings, facts(), assets())

    assert 'id="responses"' in page
    assert "6 or 7: 4 of 4" in page
    assert "Ina" not in page
