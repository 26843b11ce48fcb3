from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.grouped import AGE, OLD, grouped_evidence, split
from tests.fakes.labelled import labelled_evidence
from theodolite.measurement.study.certifying import certify
from theodolite.measurement.study.judge_groups import group_figures


def by_group(evidence):
    found = group_figures(evidence, evidence.study.guideline("groundedness"), "grounded")
    return {one.subject.annotator_group.value: one for one in found}


@pytest.fixture(scope="module")
def evidence():
    return grouped_evidence(split)


def test_a_judge_is_held_against_each_group_of_three_or_more(evidence):
    found = by_group(evidence)

    assert list(found) == ["old", "young"]
    assert {one.subject.n_people for one in found.values()} == {3}
    assert all(
        one.subject.annotator == "grounded" and one.subject.annotator_group.name == "age" for one in found.values()
    )


def test_a_judge_that_says_what_a_group_says_agrees_with_that_group_alone(evidence):
    judged = {one.dialogue: one.answers[0].value for one in evidence.archive.annotations() if one.unit}
    labelled = [one.dialogue for one in evidence.archive.annotations() if one.annotator == OLD[0]]
    says = [judged[key] for key in labelled]
    follows = by_group(grouped_evidence(lambda person, n: says[n] or "1" if person in OLD else split(person, n)))

    assert follows["old"].result.value > 0.9
    assert follows["young"].result.value < 0.3


def test_the_account_is_of_all_dialogues_that_the_judge_looked_at(evidence):
    found = by_group(evidence)["old"]

    assert found.outcomes.planned == 58
    assert found.outcomes.unparseable == 1
    assert found.outcomes.used + found.outcomes.unparseable + found.outcomes.missing == found.outcomes.planned


def test_intervals_are_over_clusters(evidence):
    found = by_group(evidence)["young"].result

    assert found.n_clusters is not None
    assert found.low <= found.value <= found.high


def test_without_known_groups_there_are_none(evidence):
    assert by_group(replace(evidence, described={})) == {}


def test_a_certificate_has_them():
    evidence = labelled_evidence(lambda said: said or "1", people=OLD)
    found = certify(replace(evidence, described={"age": AGE}), "grounded")

    assert [one.subject.annotator_group.value for one in found.measurements if one.measure == "cross_agreement"] == [
        "old"
    ]
