from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence_variants import AGE, OLD, YOUNG, grouped_evidence, split
from theodolite.domain.estimate import Undefined
from theodolite.measurement.study.findings import measure_study


@pytest.fixture(scope="module")
def evidence():
    return grouped_evidence(split)


@pytest.fixture(scope="module")
def found(evidence):
    (only,) = measure_study(evidence).annotator_groups
    return only


def test_the_finding_states_question_and_annotators(found):
    assert (found.guideline, found.question, found.attribute) == ("groundedness", "score", "age")
    assert (found.n_raters, found.n_unknown) == (7, 1)


def test_a_group_of_one_is_counted_without_its_name(found):
    assert [(one.group, one.n_raters) for one in found.groups] == [("old", 3), ("young", 3)]
    assert found.n_in_small == 1


def test_groups_with_internal_agreement_only_are_marked(found):
    old, _ = found.groups

    assert old.within.value == 1
    assert old.across.value < 0.6
    assert old.ratio > 1.5


def test_intervals_account_for_correlated_dialogues(found, evidence):
    (application,) = evidence.study.applications
    clusters = {setting.cluster for setting in evidence.answers.settings}

    assert found.application == application.name
    assert found.groups[0].across.method.startswith("jackknife over clusters")
    assert found.groups[0].across.n_clusters <= len(clusters) < len(evidence.answers)


def test_p_values_are_adjusted_for_all_comparisons(evidence, found):
    twice = measure_study(replace(evidence, annotator_attributes={"age": AGE, "copy": AGE})).annotator_groups
    p_values = [group.p_value for one in twice for group in one.groups]

    assert len(p_values) == 4
    assert [one.p_value for one in twice[0].groups] == [one.p_value for one in found.groups]
    assert all(group.adjusted_p_value >= group.p_value for one in twice for group in one.groups)
    assert max(group.adjusted_p_value for one in twice for group in one.groups) == max(p_values)


@pytest.mark.parametrize("annotator_attributes", [{}, {"age": {"anna": "old"}}, {"age": dict.fromkeys(AGE, "same")}])
def test_without_two_groups_there_is_no_finding(evidence, annotator_attributes):
    assert measure_study(replace(evidence, annotator_attributes=annotator_attributes)).annotator_groups == ()


def test_groups_below_the_size_limit_are_not_named(evidence):
    few = {"age": {OLD[0]: "old", YOUNG[0]: "young"}}
    (found,) = measure_study(replace(evidence, annotator_attributes=few)).annotator_groups

    assert (found.groups, found.n_in_small, found.n_raters, found.n_unknown) == ((), 2, 2, 6)


def test_identical_labels_have_no_ratio():
    (found,) = measure_study(grouped_evidence(lambda _person, _number: "5")).annotator_groups

    assert all(isinstance(one.across, Undefined) and one.ratio is None for one in found.groups)


def test_every_group_has_its_defect_rate(found):
    (rule,) = found.defects
    rates = dict(rule.rates)

    assert list(rates) == ["old", "young"]
    assert rule.gap == pytest.approx(abs(rates["old"].value - rates["young"].value))
    assert rule.p_value <= rule.adjusted_p_value <= 1


def test_groups_below_the_size_limit_have_no_defect_rate(evidence):
    few = {"age": {OLD[0]: "old", YOUNG[0]: "young"}}
    (found,) = measure_study(replace(evidence, annotator_attributes=few)).annotator_groups

    assert found.defects == ()
