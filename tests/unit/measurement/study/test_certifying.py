from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, live_evidence
from tests.fakes.labelled import judged as judged_labels
from tests.fakes.labelled import labelled_evidence
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.certificate import ALL_APPLICATIONS
from theodolite.domain.instrument import QuestionLevel
from theodolite.measurement.study.certifying import certify


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


def test_without_people_there_is_nothing_to_hold_a_judge_against():
    found = certify(live_evidence(), "grounded")

    assert (found.authorities, found.labelled, found.judged) == ((), 0, 58)
    assert one(found, "unparseable_share").count == 1


def test_agreement_on_a_sample_speaks_for_all_dialogues_that_it_stands_for():
    # The sample holds 30 dialogues; on one the judge's reply cannot be read.
    found = certify(labelled_evidence(lambda said: "1" if said == "2" else same(said)), "grounded")
    judged = [said for said in judged_labels(live_evidence()).values() if said is not None]

    assert one(found, "exact_agreement", authority="anna").value == pytest.approx(1 - judged.count("2") / 57)
    assert one(found, "exact_agreement", authority="anna").n == 29


def test_ordered_scales_are_compared_within_a_point_too():
    found = certify(labelled_evidence(lambda said: str(min(5, int(said or "1") + 1))), "grounded")

    assert one(found, "exact_agreement", authority="anna").value < 0.9
    assert one(found, "relaxed_agreement", authority="anna").value == pytest.approx(1.0)
    assert one(found, "relaxed_agreement", authority="anna").chance > 0.4


def test_sensitivity_and_bias_are_by_the_defect_rule():
    found = certify(labelled_evidence(same), "grounded")

    assert one(found, "judge_sensitivity", rule="score <= 3") is None
    assert one(found, "judge_precision", authority="anna").value == 1
    assert one(found, "judge_bias", authority="anna").value == pytest.approx(0)


def test_each_person_is_an_authority_and_two_are_a_ceiling():
    found = certify(labelled_evidence(same, people=("anna", "ben")), "grounded")

    assert found.authorities == ("anna", "ben")
    assert one(found, "exact_agreement", is_human_ceiling=True).value == 1
    assert one(certify(labelled_evidence(same), "grounded"), "exact_agreement", is_human_ceiling=True) is None


def test_a_refusal_to_read_a_defect_is_a_defect_that_was_missed():
    evidence = labelled_evidence(lambda said: "1" if said in {None, "1", "2"} else "5")
    refused = Answer(question="score", outcome=Outcome.REFUSED)
    shy = tuple(
        replace(a, answers=(refused,)) if a.annotator == "grounded" and a.answers[0].value in {"1", "2"} else a
        for a in evidence.archive.annotations()
    )

    shying = replace(changed(evidence, annotations=shy), samples=evidence.samples, drawn=evidence.drawn)
    found = certify(shying, "grounded")

    share = one(found, "refused_defects", authority="anna")
    assert 0 < share.count <= share.n
    assert one(found, "judge_sensitivity", authority="anna").value < 0.5


def test_figures_of_all_applications_come_first():
    first = certify(labelled_evidence(same), "grounded").measurements[0]

    assert (first.measure, first.application) == ("exact_agreement", ALL_APPLICATIONS)


def test_a_question_at_each_turn_is_held_against_people_by_its_rule_alone():
    evidence = labelled_evidence(same)
    guideline = evidence.study.guideline("groundedness")
    (asked,) = guideline.instrument.questions
    at_turns = replace(asked, level=QuestionLevel.TURN)
    instrument = replace(guideline.instrument, questions=(at_turns,))
    study = replace(evidence.study, guidelines=(replace(guideline, instrument=instrument),))

    found = certify(replace(evidence, study=study), "grounded")

    assert found.confusions == ()
    assert one(found, "exact_agreement") is None
    assert one(found, "judge_precision", authority="anna").value == 1
