from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, live_evidence
from tests.fakes.evidence_variants import AGE, OLD, grouped_evidence, labelled_evidence, split
from tests.fakes.evidence_variants import judged as judged_labels
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.estimate import ALL_APPLICATIONS
from theodolite.domain.instrument import QuestionLevel
from theodolite.measurement.study.judge_validation import ceiling_figures, group_figures, validate_judge


def same(said):
    return said or "1"


def one(found, measure, **subject):
    fitting = [
        figure
        for figure in found.measurements
        if figure.measure == measure
        and not figure.subject.is_part
        and all(getattr(figure.subject, name) == value for name, value in subject.items())
    ]
    return fitting[0].result if fitting else None


def test_without_human_labels_a_judge_cannot_be_validated():
    found = validate_judge(live_evidence(), "grounded")

    assert (found.authorities, found.labelled, found.judged) == ((), 0, 58)
    assert one(found, "unparseable_share").count == 1


def test_agreement_on_a_sample_is_weighted_to_all_dialogues():
    # The sample holds 30 dialogues; on one the judge's reply cannot be read.
    found = validate_judge(labelled_evidence(lambda said: "1" if said == "2" else same(said)), "grounded")
    judged = [said for said in judged_labels(live_evidence()).values() if said is not None]

    assert one(found, "exact_agreement", authority="anna").value == pytest.approx(1 - judged.count("2") / 57)
    assert one(found, "exact_agreement", authority="anna").n == 29


def test_ordered_scales_also_have_agreement_within_one_point():
    found = validate_judge(labelled_evidence(lambda said: str(min(5, int(said or "1") + 1))), "grounded")

    assert one(found, "exact_agreement", authority="anna").value < 0.9
    assert one(found, "relaxed_agreement", authority="anna").value == pytest.approx(1.0)
    assert one(found, "relaxed_agreement", authority="anna").chance > 0.4


def test_sensitivity_and_bias_are_by_the_defect_rule():
    found = validate_judge(labelled_evidence(same), "grounded")

    assert one(found, "judge_sensitivity", rule="score <= 3") is None
    assert one(found, "judge_precision", authority="anna").value == 1
    assert one(found, "judge_bias", authority="anna").value == pytest.approx(0)


def test_each_person_is_a_reference_and_two_give_a_ceiling():
    found = validate_judge(labelled_evidence(same, people=("anna", "ben")), "grounded")

    assert found.authorities == ("anna", "ben")
    assert one(found, "exact_agreement", is_human_ceiling=True).value == 1
    assert one(validate_judge(labelled_evidence(same), "grounded"), "exact_agreement", is_human_ceiling=True) is None


def test_a_refusal_on_a_defect_is_a_missed_defect():
    evidence = labelled_evidence(lambda said: "1" if said in {None, "1", "2"} else "5")
    refused = Answer(question="score", outcome=Outcome.REFUSED)
    shy = tuple(
        replace(a, answers=(refused,)) if a.annotator == "grounded" and a.answers[0].value in {"1", "2"} else a
        for a in evidence.archive.annotations()
    )

    shying = replace(changed(evidence, annotations=shy), samples=evidence.samples, drawn=evidence.drawn)
    found = validate_judge(shying, "grounded")

    share = one(found, "refused_defects", authority="anna")
    assert 0 < share.count <= share.n
    assert one(found, "judge_sensitivity", authority="anna").value < 0.5


def test_figures_of_all_applications_are_first():
    first = validate_judge(labelled_evidence(same), "grounded").measurements[0]

    assert (first.measure, first.application) == ("exact_agreement", ALL_APPLICATIONS)


def test_a_question_about_turns_is_compared_by_its_rule_only():
    evidence = labelled_evidence(same)
    guideline = evidence.study.guideline("groundedness")
    (asked,) = guideline.instrument.questions
    at_turns = replace(asked, level=QuestionLevel.TURN)
    instrument = replace(guideline.instrument, questions=(at_turns,))
    study = replace(evidence.study, guidelines=(replace(guideline, instrument=instrument),))

    found = validate_judge(replace(evidence, study=study), "grounded")

    assert found.confusions == ()
    assert one(found, "exact_agreement") is None
    assert one(found, "judge_precision", authority="anna").value == 1


CROWD = tuple(f"person {n}" for n in range(6))


@pytest.fixture(scope="module")
def crowd():
    return labelled_evidence(lambda said: said or "1", people=CROWD)


def figures(evidence, people):
    return {
        one.measure: one
        for one in ceiling_figures(evidence, evidence.study.guideline("groundedness"), people, "grounded")
    }


def test_many_people_form_one_pool_instead_of_all_pairs(crowd):
    found = [one for one in validate_judge(crowd, "grounded").measurements if one.subject.is_human_ceiling]

    assert [one.measure for one in found] == ["agreement_with_people", "agreement_among_people", "nearer_than_people"]
    assert {one.subject.n_people for one in found} == {6}


def test_perfect_human_agreement_is_a_ceiling_above_an_erring_judge():
    found = figures(labelled_evidence(lambda said: "1" if said == "2" else said or "1", people=CROWD), CROWD)

    assert found["agreement_among_people"].result.value == 1
    assert found["agreement_with_people"].result.value < 1
    assert found["nearer_than_people"].result.value == pytest.approx(found["agreement_with_people"].result.value - 1)


def test_unparseable_verdicts_are_counted_and_excluded(crowd):
    found = figures(crowd, CROWD)["agreement_with_people"]

    assert found.outcomes.unparseable == 1
    assert found.result.n == found.outcomes.used == 29


def test_a_few_people_are_compared_pair_by_pair(crowd):
    pairs = {
        one.subject.annotators
        for one in ceiling_figures(crowd, crowd.study.guideline("groundedness"), CROWD[:3], "grounded")
    }

    assert pairs == {(CROWD[0], CROWD[1]), (CROWD[0], CROWD[2]), (CROWD[1], CROWD[2])}


def test_people_without_labels_give_no_ceiling(crowd):
    assert figures(crowd, tuple(f"nobody {n}" for n in range(6))) == {}


def by_group(evidence):
    found = group_figures(evidence, evidence.study.guideline("groundedness"), "grounded")
    return {one.subject.annotator_group.value: one for one in found}


@pytest.fixture(scope="module")
def evidence():
    return grouped_evidence(split)


def test_a_judge_is_compared_with_each_group_of_three_or_more(evidence):
    found = by_group(evidence)

    assert list(found) == ["old", "young"]
    assert {one.subject.n_people for one in found.values()} == {3}
    assert all(
        one.subject.annotator == "grounded" and one.subject.annotator_group.name == "age" for one in found.values()
    )


def test_a_judge_that_mirrors_a_group_agrees_with_that_group_only(evidence):
    judged = {one.dialogue: one.answers[0].value for one in evidence.archive.annotations() if one.unit}
    labelled = [one.dialogue for one in evidence.archive.annotations() if one.annotator == OLD[0]]
    says = [judged[key] for key in labelled]
    follows = by_group(grouped_evidence(lambda person, n: says[n] or "1" if person in OLD else split(person, n)))

    assert follows["old"].result.value > 0.9
    assert follows["young"].result.value < 0.3


def test_the_disposition_covers_all_dialogues_of_the_judge(evidence):
    found = by_group(evidence)["old"]

    assert found.outcomes.planned == 58
    assert found.outcomes.unparseable == 1
    assert found.outcomes.used + found.outcomes.unparseable + found.outcomes.missing == found.outcomes.planned


def test_intervals_account_for_clusters(evidence):
    found = by_group(evidence)["young"].result

    assert found.n_clusters is not None
    assert found.low <= found.value <= found.high


def test_without_known_groups_there_are_no_group_comparisons(evidence):
    assert by_group(replace(evidence, annotator_attributes={})) == {}


def test_a_validation_report_includes_group_comparisons():
    evidence = labelled_evidence(lambda said: said or "1", people=OLD)
    found = validate_judge(replace(evidence, annotator_attributes={"age": AGE}), "grounded")

    assert [one.subject.annotator_group.value for one in found.measurements if one.measure == "cross_agreement"] == [
        "old"
    ]
