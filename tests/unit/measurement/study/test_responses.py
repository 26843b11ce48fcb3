from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.responses import BOTH, STUDY, evidence, response, said
from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.instrument import Orientation
from theodolite.domain.trees.tree import AnswersNode, Edge, SummaryNode, TreeDesign, ValueRange
from theodolite.measurement.study.responses import response_findings
from theodolite.measurement.study.trees import tree_findings


def test_answers_are_described_by_application_and_levels_stay_apart():
    red = response("x", "blue", 7, level=Level.RED_TEAMING)
    first, second = response_findings(evidence(*BOTH, red))

    assert (first.level, first.n, first.n_people) == (Level.RED_TEAMING, 1, 1)
    assert (second.level, second.n, second.n_people) == (Level.FIELD_TESTING, 8, 4)
    spread = next(one for one in second.spreads if (one.question, one.application) == ("bad", "green"))
    assert (spread.counts["6"], spread.quartiles, spread.top.value) == (4, ("6", "6", "6"), 1.0)
    assert spread.top_labels == ("6", "7")


def test_drafts_and_other_versions_are_counted_and_left_out():
    (found,) = response_findings(
        evidence(BOTH[0], response("y", "blue", 7, submitted=False), response("z", "blue", 7, version="0" * 64))
    )

    assert (found.n, found.n_drafts, found.n_other) == (1, 1, 1)


def test_applications_are_compared_within_testers_with_adjusted_p_values():
    (found,) = response_findings(evidence(*BOTH))
    contrast = next(one for one in found.contrasts if one.question == "bad")

    assert (contrast.first, contrast.second, contrast.test.effect) == ("blue", "green", 1.0)
    assert contrast.test.p_value == pytest.approx(2 / 16)
    assert contrast.adjusted_p_value >= contrast.test.p_value


def test_a_follow_up_that_was_not_opened_does_not_apply_and_chosen_labels_count_each():
    chosen = (said("seen", "yes"), said("kinds", "rude"), said("kinds", "slow"))
    (found,) = response_findings(evidence(response("p", "blue", 1, more=chosen), response("q", "blue", 1)))
    spread = next(one for one in found.spreads if one.question == "kinds")

    assert spread.counts == {"rude": 1, "wrong": 0, "slow": 1}
    assert (spread.n, spread.outcomes, spread.quartiles) == (1, {Outcome.NOT_APPLICABLE: 1}, None)


def test_groups_of_testers_are_described_and_compared():
    groups = [response(str(n), "blue", 1 + 5 * (n % 2), groups={"age": "old" if n % 2 else "young"}) for n in range(8)]
    (found,) = response_findings(evidence(*groups))

    assert {one.group for one in found.spreads} == {(), ("age", "old"), ("age", "young")}
    contrast = next(one for one in found.contrasts if (one.by, one.question) == ("age", "bad"))
    assert contrast.test.p_value == pytest.approx(2 / 70)


def test_trees_take_real_responses_as_leaves():
    leaf = AnswersNode(
        name="leaf",
        question="after.bad",
        by=("tester",),
        range=ValueRange(lowest=1, highest=7),
        orientation=Orientation.HIGHER_IS_WORSE,
    )
    top = SummaryNode(name="top", summary="median", edges=(Edge(child="leaf"),))
    design = TreeDesign(name="t", nodes=(top, leaf))
    findings = tree_findings(evidence(*BOTH, of=replace(STUDY, trees=(design,))))
    values = {finding.application: finding.node("top").value for finding in findings}

    assert {name: float(str(value)) for name, value in values.items()} == {"blue": 2.0, "green": 6.0}
