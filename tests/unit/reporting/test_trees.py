"""Trees in results, terminal and report: "no data" in words, and no overall score."""

from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import grown_xstest
from tests.fakes.report import assets, schema_named, words
from theodolite.domain.tree_form import design_of
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_html
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text


@pytest.fixture(scope="module")
def measured():
    evidence = grown_xstest()
    return evidence, measure_study(evidence)


@pytest.fixture(scope="module")
def document(measured):
    return results_document(*measured, facts())


@pytest.fixture(scope="module")
def page(measured):
    return report_html(*measured, facts(), assets())


def test_the_results_contain_the_tree_and_conform_to_their_schema(document):
    jsonschema.validate(document, schema_named("results"))
    (entry,) = document["trees"]

    assert [each["application"] for each in entry["applications"]][:2] == ["llama2orig", "llama2new"]
    assert {"node", "value", "low", "high", "n", "outcomes", "n_dialogues"} < set(entry["applications"][0]["nodes"][0])


def test_the_design_in_the_results_can_be_read_back(measured, document):
    assert design_of(document["trees"][0]["design"]) == measured[0].study.trees[0]


def test_the_summary_names_the_highest_branch_of_each_application_and_no_score(measured):
    text = " ".join(summary_text(*measured, facts(), words()).split())

    assert "Tree by-guideline, the highest branch of each: llama2orig over-refusing 0.3" in text


def test_the_page_draws_every_node_and_describes_missing_data_in_words(page):
    section = page[page.index('id="trees"') : page.index('id="accounts"')]

    assert section.count("<details") == section.count("</details>")
    assert 'class="radar"' in section
    assert "over-refusing: red teaming" in section
    assert section.count("no data") > 10
    assert "nan" not in section.lower().split("<")[0]


def test_a_leaf_lists_its_answers_with_annotator_and_version(measured, page):
    evidence, found = measured
    tree = page[page.index('<section id="trees"') :]
    leaves = [node for finding in found.trees for node in finding.nodes if node.answers]
    assert tree.count('class="answers"') == len(leaves) > 0
    one = leaves[0].answers[0]
    version = evidence.study.application_version(found.trees[0].application)[:8]

    assert f'href="#d/{one.session}"' in tree
    assert f"{found.trees[0].application} {version}" in tree
    assert "Answers 26 to 50 of" in tree
    assert "stand in the tree's own file" in tree.replace("&#39;", "'")


def test_applications_are_related_without_a_ranking(document, page):
    standing = document["trees"][0]["standing"]

    assert "places" not in standing
    assert len(standing["comparisons"]) == 10
    assert {pair["order"] for pair in standing["comparisons"]} <= {"lower", "higher", "equal", "incomparable"}
    assert "Partial order of the applications" in page
    assert "are not comparable" in page


def test_a_study_without_a_tree_draws_none(measured):
    plain = replace(measured[1], trees=())

    assert 'id="trees"' not in report_html(measured[0], plain, facts(), assets())
