from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import live_evidence
from tests.fakes.evidence_variants import labelled_evidence
from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.estimate import Undefined
from theodolite.domain.study_parts import Calibration, CorrectionChoice
from theodolite.domain.undefined_reasons import NOT_SAMPLED
from theodolite.measurement.study.findings import measure_study


def rates(evidence, measure="corrected_rate"):
    return [one for one in measure_study(evidence).measurements if one.measure == measure]


def same(said):
    return said or "1"


def test_without_human_labels_nothing_is_corrected():
    assert rates(live_evidence()) == []


def test_the_corrected_rate_accompanies_the_rate_of_the_judge():
    evidence = labelled_evidence(same)

    (corrected,) = rates(evidence)
    (own,) = rates(evidence, "defect_rate")

    assert (corrected.subject.annotator, corrected.subject.corrected_by) == ("grounded", "anna")
    assert own.subject.annotator == "grounded"
    assert (own.result.count, own.result.n) == (9, 57)


def test_the_rate_is_unchanged_where_people_agree_with_the_judge():
    # 9 defects and 48 sound among 58 judged dialogues; the unreadable one is a defect to people.
    (corrected,) = rates(labelled_evidence(same))

    assert corrected.result.value == pytest.approx((9 + 1) / 58)
    assert corrected.result.n == 30
    assert corrected.result.low < corrected.result.value < corrected.result.high


def test_with_false_alarms_only_the_rate_falls_to_the_missed_defects():
    (corrected,) = rates(labelled_evidence(lambda said: "5" if said in {"1", "2"} else (said or "5")))

    assert corrected.result.value == pytest.approx(0)
    assert corrected.result.low == 0
    assert corrected.result.high > 0.02


def test_each_person_gives_a_separate_correction():
    both = rates(labelled_evidence(same, people=("anna", "ben")))

    assert [one.subject.corrected_by for one in both] == ["anna", "ben"]


def test_labels_outside_the_sample_correct_nothing():
    (corrected,) = rates(labelled_evidence(same, drawn=False))

    assert isinstance(corrected.result, Undefined)
    assert corrected.result.reason == NOT_SAMPLED


def test_every_planned_dialogue_stays_in_the_disposition():
    (corrected,) = rates(labelled_evidence(same))

    assert (corrected.outcomes.planned, corrected.outcomes.used) == (60, 30)


def test_a_dialogue_not_assigned_to_a_person_is_not_missing():
    evidence = labelled_evidence(same)
    drawn = sorted(evidence.drawn.values())
    answers = replace(evidence.answers, assigned={"anna": [*drawn, next(n for n in range(60) if n not in drawn)]})

    (corrected,) = rates(replace(evidence, answers=answers))

    assert (corrected.outcomes.planned, corrected.outcomes.used, corrected.outcomes.missing) == (31, 30, 1)
    assert corrected.result == rates(evidence)[0].result


def test_corrected_means_accompany_the_means_of_the_judge():
    evidence = labelled_evidence(lambda said: {"5": "4"}.get(said or "", said or "1"))

    (own,), (people,) = rates(evidence, "judge_mean"), rates(evidence, "corrected_mean")

    assert (people.subject.question, people.subject.corrected_by) == ("score", "anna")
    assert (own.result.n, people.result.n) == (57, 29)
    assert people.result.value < own.result.value
    assert people.result.low < people.result.value < people.result.high


def chosen(evidence, **choice):
    study = replace(evidence.study, corrections=(CorrectionChoice(judge="grounded", **choice),))
    return replace(evidence, study=study)


def test_a_study_may_disable_corrections():
    evidence = chosen(labelled_evidence(same), rate=RateCorrection.NONE, mean=MeanCorrection.NONE)

    assert rates(evidence) == rates(evidence, "corrected_mean") == []


def test_an_external_calibration_corrects_a_rate_without_labels():
    (rule,) = live_evidence().study.guidelines[0].defect_rules
    known = Calibration(rule=rule.name, caught=90, defects=100, passed=95, sound=100, source="the pilot")
    evidence = chosen(live_evidence(), rate=RateCorrection.ROGAN_GLADEN, calibrations=(known,))

    (found,) = rates(evidence, "rogan_gladen_rate")

    assert found.subject.calibrated_on == "the pilot"
    assert found.result.value == pytest.approx((9 / 57 + 0.95 - 1) / (0.90 + 0.95 - 1))
    assert found.outcomes == rates(evidence, "defect_rate")[0].outcomes
