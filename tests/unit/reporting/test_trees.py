"""Trees in results, terminal and report: "no data" in words, and no overall score."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.grown import grown_xstest
from tests.fakes.report import assets, words
from tests.fakes.trees import FEW, answers, design, leaf, leaves
from tests.unit.measurement.trees.test_comparing import tree
from theodolite.domain.trees.form import design_of
from theodolite.measurement import measure_study
from theodolite.measurement.trees.measuring import measure_tree
from theodolite.reporting.html import report_html
from theodolite.reporting.results import results_document
from theodolite.reporting.summary import summary_text
from theodolite.reporting.tree_text import comparison_lines, design_lines, summary_words, tree_lines

NODES = {
    "top": {"summary": "aggregation", "of": {"x": 1, "y": 2}, "beside": ["kinds"]},
    "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b"),
    "kinds": {"summary": "set", "of": "k"}, "k": {"answers": "k", "scale": ["rude", "kind"]},
}  # fmt: skip


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


def test_the_results_hold_the_tree_and_keep_their_schema(document):
    jsonschema.validate(document, json.loads(assets()["results.schema.json"]))
    (entry,) = document["trees"]

    assert [each["application"] for each in entry["applications"]][:2] == ["llama2orig", "llama2new"]
    assert {"node", "value", "low", "high", "n", "outcomes", "n_dialogues"} < set(entry["applications"][0]["nodes"][0])


def test_the_design_in_the_results_can_be_read_back(measured, document):
    assert design_of(document["trees"][0]["design"]) == measured[0].study.trees[0]


def test_the_summary_names_the_highest_branch_of_each_application_and_no_score(measured):
    text = " ".join(summary_text(*measured, facts(), words()).split())

    assert "Tree by-guideline, the highest branch of each: llama2orig over-refusing 0.3" in text


def test_the_page_draws_every_node_and_says_no_data_in_words(page):
    section = page[page.index('id="trees"') : page.index('id="accounts"')]

    assert section.count("<details") == section.count("</details>")
    assert 'class="radar"' in section
    assert "over-refusing: red teaming" in section
    assert section.count("no data") > 10
    assert "nan" not in section.lower().split("<")[0]


def test_a_leaf_lists_its_single_answers_with_who_gave_them_and_what_version(measured, page):
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


def test_applications_stand_to_each_other_without_a_ranking(document, page):
    standing = document["trees"][0]["standing"]

    assert len(standing["comparisons"]) == 10
    assert {pair["order"] for pair in standing["comparisons"]} <= {"lower", "higher", "equal", "incomparable"}
    assert "How the applications stand to each other" in page
    assert "are not comparable" in page


def test_nothing_of_a_tree_is_drawn_where_a_study_has_none(measured):
    plain = replace(measured[1], trees=())

    assert 'id="trees"' not in report_html(measured[0], plain, facts(), assets())


def small(*given):
    return measure_tree(
        design(NODES), given or [*leaves("a", 1, 0), *leaves("k", "rude")], draws=FEW, application="bot"
    )


def test_a_tree_in_a_terminal():
    text = "\n".join(tree_lines(small(), width=100))

    assert text.startswith("small, bot\ntop: side by side  [aggregation; 2 dialogues, 2 answers]\n")
    assert "  x: 0.50 (" in text
    assert "  y: no data  [mean; 0 dialogues, 0 answers]" in text
    assert "  kinds: rude: 1  [set; 1 dialogue, 1 answer]" in text


def test_depth_is_a_choice():
    assert len(tree_lines(small(), depth=1)) == 2


def test_what_is_missing_is_said_beside_every_node():
    text = "\n".join(tree_lines(small(leaf("a", "d1", 1), leaf("a", "d2", None)), width=200))

    assert "x: 1.00" in text
    assert "[mean; 1 dialogue, 1 answer, 1 missing]" in text


def test_a_design_in_a_terminal_shows_weights_that_are_not_one():
    assert design_lines(design(NODES))[:4] == ["small", "top  [aggregation]", "  x  [mean]", "    a  [answers to a]"]
    assert "  y, weight 2  [mean]" in design_lines(design(NODES))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((4, 4), (8, 8), "one is nowhere higher, and lower at 3 nodes."),
        ((8, 8), (4, 4), "two is nowhere higher, and lower at 3 nodes."),
        ((4, 4), (4, 4), "one and two are equal at every node."),
        ((4, 8), (8, 4), "Neither is ahead, and no overall score is made."),
    ],
)
def test_a_comparison_ends_in_words(first, second, words):
    lines = comparison_lines(tree(*first).compare(tree(*second, name="two"), replicates=50))

    assert words in " ".join(lines)
    assert any(line.startswith("  x: ") and " -> " in line for line in lines)


def test_trees_that_may_not_be_compared_stand_in_no_order():
    found = tree(4, 4, scenarios=("a",)).compare(tree(8, 8, name="two", scenarios=("b",)), replicates=50)

    assert "Side by side only, in no order:" in comparison_lines(found)


def test_a_tree_without_any_data_says_so():
    assert summary_words([measure_tree(design(NODES), [], draws=FEW, application="bot")]) == (
        "small, the highest branch of each: bot no data."
    )
