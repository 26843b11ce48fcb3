from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.codings import BOOK, CODINGS, CONSENSUS, VERSION, WORK, about, coded_evidence, coding, noted, wrote
from tests.fakes.evidence import xstest_evidence as refused_evidence
from tests.fakes.responses import STUDY, evidence, response
from theodolite.domain.choices import Identification
from theodolite.domain.coding import TRIED, CodedState, Coding, CodingWork, OpenAnswer, books_by_version, tried_in
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.responses import ThemeQuote
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.scenario import Scenario
from theodolite.domain.study_parts import Risk
from theodolite.measurement.study.risks import RiskUnit, coding_findings, risk_contrasts, risk_findings, risk_parts

BAD = Condition(question="after.bad", operator=Operator.AT_LEAST, values=("6",))


FELT = Risk(name="felt", identified_by=Identification.QUESTIONNAIRE, answers=(BAD,))


BOTH = Risk(name="both", identified_by=Identification.BOTH, rules=("polite.label",), answers=(BAD,))


def of(risk):
    return replace(STUDY, risks=(risk,))


def review(session, *, materialised):
    return CombinedReview(study="s", risk="both", session=session, materialised=materialised, reviewer="r", magnitude=7)


def test_an_answer_that_meets_the_condition_creates_a_record():
    (found,) = risk_findings(evidence(response("p", "blue", 7), response("q", "blue", 2), of=of(FELT)))

    assert (found.application, found.level, found.n) == ("blue", Level.FIELD_TESTING, 2)
    assert [(one.session, one.shown_by) for one in found.materialised] == [("p-blue", "after.bad >= 6")]


def test_drafts_and_other_versions_create_no_record():
    drafts = response("p", "blue", 7, submitted=False), response("q", "blue", 7, version="0" * 64)

    assert list(risk_findings(evidence(*drafts, of=of(FELT)))) == []


def test_a_combined_rule_waits_for_a_review():
    given = [response(name, "blue", 7) for name in "pqr"] + [response("s", "blue", 1)]
    heard = evidence(*given, of=of(BOTH))
    reviews = (review("p-blue", materialised=True), review("q-blue", materialised=False))
    (found,) = risk_findings(replace(heard, reviews=reviews))

    assert [(one.session, one.shown_by, one.magnitude) for one in found.materialised] == [
        ("p-blue", "combined review", 7)
    ]
    assert (found.pending, found.n_dismissed, found.n) == (("r-blue",), 1, 4)


def test_a_risk_without_indicators_is_not_measured():
    assert list(risk_findings(evidence(response("p", "blue", 7), of=of(Risk(name="some"))))) == []


def test_a_risk_is_checked_where_a_scenario_names_it():
    told = refused_evidence()
    study = told.study
    rule = f"{study.guidelines[0].name}.{study.guidelines[0].defect_rules[0].name}"
    risks = (Risk(name="named", rules=(rule,)), Risk(name="unnamed", rules=(rule,)))
    elsewhere = (*study.scenarios, Scenario(name="elsewhere", risks=("named",)))

    found = risk_findings(replace(told, study=replace(study, risks=risks, scenarios=elsewhere)))

    assert {one.risk.name for one in found} == {"unnamed"}


def test_dialogues_without_an_applicable_rule_do_not_count():
    told = refused_evidence()
    guideline = told.study.guidelines[0]
    rule = guideline.defect_rules[0]
    risk = Risk(name="lost", rules=(f"{guideline.name}.{rule.name}",))
    narrow = replace(
        guideline, defect_rules=(replace(rule, among={"type": "no such type"}), *guideline.defect_rules[1:])
    )
    study = replace(told.study, risks=(risk,), guidelines=(narrow, *told.study.guidelines[1:]))

    assert risk_findings(replace(told, study=study)) == ()


def test_disagreeing_annotators_are_both_named():
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


def test_groups_of_people_are_counted_separately_and_compared():
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


def test_pending_reviews_and_missing_answers_are_undecided():
    given = [*aged(6, 1, "old"), *aged(6, 7, "young")]
    silent = replace(response("x", "blue", 7, groups={"age": "old"}), answers=())
    told = replace(evidence(*given, silent, of=of(BOTH)), reviews=(review("young0-blue", materialised=True),))
    (found,) = risk_findings(told)

    old, young = found.parts
    assert (old.n, old.n_undecided, old.count) == (6, 1, 0)
    assert (young.n, young.n_undecided, young.count) == (1, 5, None)


def units(part, *said):
    return [RiskUnit(person=f"{part}{n}", groups={"age": part}, is_real=one) for n, one in enumerate(said)]


def test_unlabelled_dialogues_are_undecided_rather_than_free_of_the_risk():
    old, young = risk_parts([*units("old", True, None, None), *units("young", *[False] * 5, None)])

    assert (old.n, old.n_undecided, old.n_people, old.count) == (1, 2, 1, None)
    assert (young.n, young.n_undecided, young.n_people, young.count) == (5, 1, 5, 0)


def test_a_group_with_one_value_gives_no_split_and_people_without_a_value_are_in_none():
    assert risk_parts(units("old", True, False)) == ()
    nobody = RiskUnit(person="x", groups={}, is_real=True)
    assert [part.part for part in risk_parts([*units("a", True), *units("b", True), nobody])] == ["a", "b"]


def test_parts_that_are_withheld_are_not_compared():
    told = [*units("old", *[True] * 4), *units("young", *[False] * 6)]

    assert list(risk_contrasts(told, risk_parts(told), seed=1)) == []


def themes(work=WORK, **facts):
    (found,) = coding_findings(coded_evidence(work, **facts))
    return {one.code: one for one in found.themes}


def test_every_answer_is_accounted_for():
    (found,) = coding_findings(coded_evidence())

    assert found.states == {CodedState.ALIKE: 3, CodedState.DISPUTED: 1, CodedState.ONCE: 1}
    assert (found.question, found.n, found.n_coders, found.codebook, found.revision) == ("open", 5, 2, VERSION, 1)


def test_disputed_codes_are_in_the_bounds_and_not_in_the_share():
    vague, cold = themes()["vague"], themes()["cold"]

    assert (vague.n, vague.n_undecided, vague.n_uncoded) == (3, 1, 1)
    assert (vague.share.count, vague.share.n, vague.share.unit) == (1, 3, "fraction of answers")
    assert vague.bounds == (1 / 5, 3 / 5)
    assert (cold.n, cold.n_undecided, cold.share.count) == (4, 0, 2)


def test_a_consensus_counts_for_all_codes_of_an_answer():
    found = themes(replace(WORK, resolutions=(CONSENSUS,)))

    assert (found["vague"].n, found["vague"].n_undecided, found["vague"].share.count) == (4, 0, 1)


def test_no_consensus_leaves_the_disputed_code_undecided():
    found = themes(replace(WORK, resolutions=(replace(CONSENSUS, codes=None),)))

    assert found["vague"].n_undecided == 1


def test_agreement_is_computed_for_whole_sets_and_for_each_code():
    (found,) = coding_findings(coded_evidence(replace(WORK, resolutions=(CONSENSUS,))))
    vague, cold = found.codes

    assert (found.alike.count, found.alike.n, found.alpha.n) == (3, 4, 4)
    assert (vague.n_given, vague.alike.count, cold.alike.count, cold.alpha.value) == (3, 3, 4, 1.0)


def test_agreement_is_undefined_without_two_coders():
    (found,) = coding_findings(coded_evidence(replace(WORK, codings=CODINGS[-1:])))

    assert isinstance(found.alpha, Undefined)
    assert isinstance(found.codes[0].alpha, Undefined)


def test_groups_of_few_people_are_withheld():
    groups = {person: {"age": "old" if person in "pq" else "young"} for person in "pqrst"}
    told = evidence(*(wrote(person, groups=groups[person]) for person in "pqrst"))
    (found,) = coding_findings(replace(told, coding=WORK))
    old = [one for one in found.themes if one.group == ("age", "old")]

    assert [(one.share, one.bounds, one.n) for one in old] == [(None, None, 2)] * 2


def test_released_answers_are_quoted_with_codes_and_without_participants():
    (found,) = coding_findings(coded_evidence())

    assert found.quotes == (ThemeQuote(text="Rude!", codes=("cold",), application="blue", level=Level.FIELD_TESTING),)


@pytest.mark.parametrize("work", [None, CodingWork()], ids=["not begun", "no codebook"])
def test_without_a_codebook_there_is_no_finding(work):
    assert list(coding_findings(coded_evidence(work))) == []


def test_answers_about_another_version_and_drafts_are_excluded():
    told = evidence(wrote("p"), wrote("q", version="0" * 64), wrote("r", submitted=False))
    (found,) = coding_findings(replace(told, coding=replace(WORK, codebooks={VERSION: BOOK})))

    assert found.n == 1


def test_each_question_uses_its_own_codebook():
    own = replace(BOOK, name="tone", covers=("after.open",), codes=BOOK.codes[1:])
    work = replace(WORK, codebooks=books_by_version([BOOK, own]))
    (found,) = coding_findings(coded_evidence(work))

    assert (found.name, found.revision, [one.code for one in found.codes]) == ("tone", 1, ["cold"])


def test_notes_of_red_teamers_form_a_separate_question():
    notes = tuple(tried_in([noted(STUDY), noted(STUDY, person="q")]))
    answers = [OpenAnswer(session=one.session, questionnaire=TRIED.name, question="tried") for one in notes]
    codings = [
        Coding(answer=answer, coder=coder, codes=("vague",), codebook=VERSION)
        for answer in answers
        for coder in ("c1", "c2")
    ]
    (found,) = coding_findings(replace(evidence(), notes=notes, coding=replace(WORK, codings=codings)))

    assert (found.questionnaire, found.question, found.n) == ("notes while testing", "tried", 2)
    assert [(one.level, one.application) for one in found.themes if one.code == "vague"] == [
        (Level.RED_TEAMING, "blue")
    ]


def test_coders_are_compared_two_by_two():
    more = (coding("t", "c3", "vague"), coding("q", "c3", "vague"))
    codings = (*(one for one in CODINGS if (one.answer, one.coder) != (about("q"), "c2")), *more)
    (found,) = coding_findings(coded_evidence(replace(WORK, codings=codings)))

    assert [(one.first, one.second, one.n, one.alike.count) for one in found.pairs] == [
        ("c1", "c2", 3, 2),
        ("c1", "c3", 2, 1),
    ]
    assert [one.alike.count for one in found.pairs[1].codes] == [1, 1]
    assert found.coders == {"c1": "coder 1", "c2": "coder 2", "c3": "coder 3"}
