from __future__ import annotations

import pytest

from tests.fakes.labelled import labelled_evidence
from theodolite.measurement.study.ceilings import ceiling_figures
from theodolite.measurement.study.certifying import certify

CROWD = tuple(f"person {n}" for n in range(6))


@pytest.fixture(scope="module")
def crowd():
    return labelled_evidence(lambda said: said or "1", people=CROWD)


def figures(evidence, people):
    return {
        one.measure: one
        for one in ceiling_figures(evidence, evidence.study.guideline("groundedness"), people, "grounded")
    }


def test_many_people_are_one_crowd_and_not_every_pair(crowd):
    found = [one for one in certify(crowd, "grounded").measurements if one.subject.is_human_ceiling]

    assert [one.measure for one in found] == ["agreement_with_people", "agreement_among_people", "nearer_than_people"]
    assert {one.subject.n_people for one in found} == {6}


def test_people_who_always_agree_leave_a_judge_that_errs_behind():
    found = figures(labelled_evidence(lambda said: "1" if said == "2" else said or "1", people=CROWD), CROWD)

    assert found["agreement_among_people"].result.value == 1
    assert found["agreement_with_people"].result.value < 1
    assert found["nearer_than_people"].result.value == pytest.approx(found["agreement_with_people"].result.value - 1)


def test_what_the_judge_did_not_say_readably_is_counted_and_left_out(crowd):
    found = figures(crowd, CROWD)["agreement_with_people"]

    assert found.outcomes.unparseable == 1
    assert found.result.n == found.outcomes.used == 29


def test_a_few_are_compared_pair_by_pair(crowd):
    pairs = {
        one.subject.annotators
        for one in ceiling_figures(crowd, crowd.study.guideline("groundedness"), CROWD[:3], "grounded")
    }

    assert pairs == {(CROWD[0], CROWD[1]), (CROWD[0], CROWD[2]), (CROWD[1], CROWD[2])}


def test_people_who_have_labelled_nothing_make_no_ceiling(crowd):
    assert figures(crowd, tuple(f"nobody {n}" for n in range(6))) == {}
