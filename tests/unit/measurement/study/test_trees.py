"""Trees of a study: leaves from the register, and what every node came to."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fakes.evidence_variants import grown_live, grown_xstest
from theodolite.domain.annotation import Outcome
from theodolite.measurement.study.trees import branches, tree_findings, tree_leaves


@pytest.fixture(scope="module")
def live():
    return list(tree_findings(grown_live()))


def test_every_planned_session_has_a_leaf_for_each_question_and_annotator():
    evidence = grown_live()
    design, application = evidence.study.trees[0], evidence.study.applications[0]
    leaves = list(tree_leaves(evidence, design, application))
    planned = len(list(evidence.answers.positions(application.name)))
    per_question = Counter((leaf.question, leaf.by) for leaf in leaves)

    assert set(per_question.values()) == {planned}
    assert {leaf.outcome for leaf in leaves} > {Outcome.ANSWERED}


def test_a_study_with_judges_only_has_a_measured_tree(live):
    top = live[0].node("simulated sessions")
    filled = [node for node in live[0].nodes if node.value is not None]

    assert top.n_dialogues > 0
    assert filled
    assert all(node.result.low is not None for node in filled if node.node.endswith("simulated users"))


def test_failed_answers_stay_in_the_disposition_of_nodes(live):
    filled = next(node for node in live[0].nodes if node.value is not None)

    assert filled.outcomes.failed + filled.outcomes.unparseable > 0
    assert filled.outcomes.planned > filled.outcomes.used


def test_versions_of_all_instruments_are_stored_with_a_tree(live):
    assert {"tree"} < set(live[0].versions)
    assert any(name.startswith("guideline ") for name in live[0].versions)
    assert live[0].scenarios


def test_the_tree_of_the_replay_agrees_with_its_rates():
    finding = next(found for found in tree_findings(grown_xstest()) if found.application == "llama2orig")
    dimension = finding.design.dimensions[0].node

    assert 0.3 < finding.node(dimension).value < 0.45
    assert finding.node(dimension).n_dialogues == 250
    assert len(finding.links) == 3
    assert {split.group for split in finding.splits} == set(grown_xstest().study.groups)


def test_the_branches_of_a_tree_are_its_dimensions():
    assert branches(grown_xstest().study.trees[0])[0] == "over-refusing"
