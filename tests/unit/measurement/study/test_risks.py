from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import xstest_evidence as refused_evidence
from tests.fakes.responses import STUDY, evidence, response
from theodolite.domain.choices import Identification
from theodolite.domain.dialogue import Level
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.risk import Risk
from theodolite.domain.scenario import Scenario
from theodolite.measurement.study.risks import RiskUnit, risk_contrasts, risk_findings, risk_parts

BAD = Condition(question="after.bad", operator=Operator.AT_LEAST, values=("6",))

FELT = Risk(name="felt", identified_by=Identification.QUESTIONNAIRE, answers=(BAD,))

BOTH = Risk(name="both", identified_by=Identification.BOTH, rules=("polite.label",), answers=(BAD,))


def of(risk):
    return replace(STUDY, risks=(risk,))


def review(session, *, materialised):
    return CombinedReview(study="s", risk="both", session=session, materialised=materialised, reviewer="r", magnitude=7)


def test_an_answer_that_meets_the_condition_makes_a_record():
    (found,) = risk_findings(evidence(response("p", "blue", 7), response("q", "blue", 2), of=of(FELT)))

    assert (found.application, found.level, found.n) == ("blue", Level.FIELD_TESTING, 2)
    assert [(one.session, one.shown_by) for one in found.materialised] == [("p-blue", "after.bad >= 6")]


def test_drafts_and_other_versions_show_nothing():
    drafts = response("p", "blue", 7, submitted=False), response("q", "blue", 7, version="0" * 64)

    assert list(risk_findings(evidence(*drafts, of=of(FELT)))) == []


def test_what_needs_both_waits_for_a_review():
    given = [response(name, "blue", 7) for name in "pqr"] + [response("s", "blue", 1)]
    heard = evidence(*given, of=of(BOTH))
    reviews = (review("p-blue", materialised=True), review("q-blue", materialised=False))
    (found,) = risk_findings(replace(heard, reviews=reviews))

    assert [(one.session, one.shown_by, one.magnitude) for one in found.materialised] == [
        ("p-blue", "combined review", 7)
    ]
    assert (found.pending, found.n_dismissed, found.n) == (("r-blue",), 1, 4)


def test_a_risk_that_says_not_what_shows_it_is_not_measured():
    assert list(risk_findings(evidence(response("p", "blue", 7), of=of(Risk(name="some"))))) == []


def test_a_risk_is_looked_for_where_a_scenario_names_it():
    told = refused_evidence()
    study = told.study
    rule = f"{study.guidelines[0].name}.{study.guidelines[0].defect_rules[0].name}"
    risks = (Risk(name="named", rules=(rule,)), Risk(name="unnamed", rules=(rule,)))
    elsewhere = (*study.scenarios, Scenario(name="elsewhere", risks=("named",)))

    found = risk_findings(replace(told, study=replace(study, risks=risks, scenarios=elsewhere)))

    assert {one.risk.name for one in found} == {"unnamed"}


def test_dialogues_that_no_rule_is_about_do_not_count():
    told = refused_evidence()
    guideline = told.study.guidelines[0]
    rule = guideline.defect_rules[0]
    risk = Risk(name="lost", rules=(f"{guideline.name}.{rule.name}",))
    narrow = replace(
        guideline, defect_rules=(replace(rule, among={"type": "no such type"}), *guideline.defect_rules[1:])
    )
    study = replace(told.study, risks=(risk,), guidelines=(narrow, *told.study.guidelines[1:]))

    assert risk_findings(replace(told, study=study)) == ()


def test_annotators_who_differ_are_both_named():
    told = refused_evidence()
    rule = told.study.guidelines[0].defect_rules[0]
    risk = Risk(name="lost", rules=(f"{told.study.guidelines[0].name}.{rule.name}",))
    findings = list(risk_findings(replace(told, study=replace(told.study, risks=(risk,)))))
    records = [one for found in findings for one in found.materialised]

    assert records
    assert any(one.against for one in records)
    assert all(one.by and one.dialogue and one.shown_by == risk.rules[0] for one in records)


def aged(n, bad, age):
    return [response(f"{age}{number}", "blue", bad, groups={"age": age}) for number in range(n)]


def test_groups_of_people_are_counted_apart_and_compared():
    (found,) = risk_findings(evidence(*aged(5, 7, "old"), *aged(6, 1, "young"), *aged(2, 7, "young+"), of=of(FELT)))

    assert [(part.part, part.n, part.count) for part in found.parts] == [
        ("old", 5, 5),
        ("young", 6, 0),
        ("young+", 2, None),
    ]
    (contrast,) = found.contrasts
    assert (contrast.first, contrast.second, contrast.test.effect) == ("old", "young", -1.0)
    assert contrast.test.p_value == pytest.approx(1 / 462)


def test_p_values_are_adjusted_over_all_risks():
    worse = Risk(name="worse", identified_by=Identification.QUESTIONNAIRE, answers=(replace(BAD, values=("7",)),))
    told = evidence(*aged(5, 7, "old"), *aged(5, 1, "young"), of=replace(STUDY, risks=(FELT, worse)))
    contrasts = [contrast for found in risk_findings(told) for contrast in found.contrasts]

    assert [one.adjusted_p_value for one in contrasts] == pytest.approx([4 / 252, 4 / 252])


def test_what_waits_for_a_review_or_was_not_answered_is_undecided():
    given = [*aged(6, 1, "old"), *aged(6, 7, "young")]
    silent = replace(response("x", "blue", 7, groups={"age": "old"}), answers=())
    told = replace(evidence(*given, silent, of=of(BOTH)), reviews=(review("young0-blue", materialised=True),))
    (found,) = risk_findings(told)

    old, young = found.parts
    assert (old.n, old.n_undecided, old.count) == (6, 1, 0)
    assert (young.n, young.n_undecided, young.count) == (1, 5, None)


def units(part, *said):
    return [RiskUnit(person=f"{part}{n}", groups={"age": part}, is_real=one) for n, one in enumerate(said)]


def test_what_nobody_labelled_is_undecided_and_not_free_of_the_risk():
    old, young = risk_parts([*units("old", True, None, None), *units("young", *[False] * 5, None)])

    assert (old.n, old.n_undecided, old.n_people, old.count) == (1, 2, 1, None)
    assert (young.n, young.n_undecided, young.n_people, young.count) == (5, 1, 5, 0)


def test_a_group_with_one_value_is_no_split_and_people_without_one_belong_to_none():
    assert risk_parts(units("old", True, False)) == ()
    nobody = RiskUnit(person="x", groups={}, is_real=True)
    assert [part.part for part in risk_parts([*units("a", True), *units("b", True), nobody])] == ["a", "b"]


def test_parts_that_are_withheld_are_not_compared():
    told = [*units("old", *[True] * 4), *units("young", *[False] * 6)]

    assert list(risk_contrasts(told, risk_parts(told), seed=1)) == []
