"""Rates of a study: whole denominators, every label for itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed
from tests.unit.measurement.study.small_study import CALLABLE, NUMBERS, SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Estimate, Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.agreement import InjectionEffect, InjectionTrial
from theodolite.domain.guideline import Violation
from theodolite.domain.instrument import Operator, QuestionLevel
from theodolite.domain.persona import Aim, Attack, Attempt, AttemptOutcome, Strategy
from theodolite.measurement.proportion import DIALOGUES
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.rates import turned_shares


def rates(study, measure="defect_rate"):
    return [m for m in measure_study(study.evidence()).measurements if m.measure == measure]


def of_four(*, held=("d1", "d2", "d3", "d4"), **settings):
    study = SmallStudy(**settings)
    for label in ("d1", "d2", "d3", "d4"):
        study.session(label, held=label in held)
    return study


def test_without_a_reference_each_annotator_has_a_rate():
    study = of_four()
    study.annotator("ann")
    study.annotator("ben")
    study.column("ann", d1="yes", d2="no", d3="no", d4="yes")
    study.column("ben", d1="yes", d2="no", d3="yes", d4="yes")

    assert [(rate.subject.annotator, rate.result.count, rate.dialogues) for rate in rates(study)] == [
        ("ann", 2, ("d2", "d3")),
        ("ben", 1, ("d2",)),
    ]


def test_a_rate_states_its_subject():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="no", d3="no", d4="yes")

    (rate,) = rates(study)

    assert rate.subject == EstimateSubject(
        application=rate.application,
        guideline="polite",
        rule="impolite",
        condition="label == no",
        annotators=("ann",),
        violation=Violation.NOT_A_GUARDRAIL,
    )
    assert sorted(rate.versions) == ["annotator ann", "guideline polite"]


def test_the_reference_accompanies_the_annotators():
    study = of_four(reference=True)
    study.annotator("ann")
    for label in ("d1", "d2", "d3", "d4"):
        study.final(label, "no")

    assert [rate.subject.annotator for rate in rates(study)] == ["reference", "ann"]
    assert rates(study)[0].result.value == 1.0


def test_recorded_columns_do_not_label_live_dialogues():
    study = of_four(reference=True, connection=CALLABLE)
    study.annotator("ann")
    study.annotator("large", AnnotatorKind.MODEL)
    study.column("large", d1="yes", d2="no", d3="no", d4="yes")

    assert [rate.subject.annotator for rate in rates(study)] == ["large"]


def test_every_planned_session_is_in_the_disposition():
    study = of_four(held=("d1", "d2", "d3"), connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.fail("d4")
    study.fail("d3", "large")
    study.answer("large", "d1", "no")
    study.answer("large", "d2", Outcome.UNPARSEABLE)
    study.session("d5", held=False)

    (rate,) = rates(study)

    assert rate.outcomes == Outcomes(planned=5, used=1, failed=2, unparseable=1, missing=1)
    assert rate.bounds == (1 / 5, 1.0)


def test_inapplicable_dialogues_are_neither_measured_nor_unmeasured():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="no", d2="yes", d3=Outcome.NOT_APPLICABLE, d4=Outcome.REFUSED)

    (rate,) = rates(study)

    assert rate.outcomes == Outcomes(planned=4, used=2, not_applicable=1, refused=1)
    assert rate.bounds == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_complete_measurement_needs_no_bounds():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="no", d3="no", d4="yes")

    assert rates(study)[0].bounds is None


def test_a_label_outside_the_scale_is_unparseable():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="perhaps", d3="no", d4="yes")

    assert rates(study)[0].outcomes.unparseable == 1


def test_without_labels_a_rate_is_undefined_with_its_reason():
    study = of_four(held=("d1", "d2"), connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.fail("d1", "large")
    study.answer("large", "d2", Outcome.UNPARSEABLE)

    (rate,) = rates(study)

    assert isinstance(rate.result, Undefined)
    assert rate.result.reason == ("None of 4 planned dialogues has a label: 1 failed, 1 unparseable, 2 missing.")
    assert rates(study, "zero_defect_bound") == []


def test_a_rule_about_an_empty_group_is_undefined():
    study = of_four(guideline=polite(among={"kind": "safe"}))
    study.annotator("ann")

    assert rates(study)[0].result.reason == "The plan has no dialogue to which this rule applies."


def test_only_dialogues_of_the_group_of_a_rule_are_in_its_denominator():
    study = SmallStudy(guideline=polite(among={"kind": "safe"}))
    study.annotator("ann")
    for label, kind in (("d1", "safe"), ("d2", "unsafe")):
        study.session(label, groups={"kind": kind})
        study.answer("ann", label, "no")

    assert (rates(study)[0].result.n, rates(study)[0].dialogues) == (1, ("d1",))


def test_zero_defects_have_an_upper_bound():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="yes", d3="yes", d4="yes")

    (bound,) = rates(study, "zero_defect_bound")

    assert bound.result.value == pytest.approx(1 - 0.05 ** (1 / 4))
    assert bound.subject == rates(study)[0].subject


@pytest.mark.parametrize("defects", [0, 3])
def test_dialogues_of_one_persona_are_a_cluster(defects):
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    for number in range(12):
        study.session(f"d{number}", cluster=f"persona {number % 3}")
        study.answer("large", f"d{number}", "no" if number < defects else "yes")

    measured = rates(study) + rates(study, "zero_defect_bound")

    assert {m.result.n_clusters for m in measured} == {3}
    assert all(m.result.method.startswith("beta-binomial") for m in measured)


def test_splits_use_the_reference_if_there_is_one():
    study = SmallStudy(reference=True, groups=("type", "unknown"))
    study.annotator("ann")
    for label, kind in (("d1", "a"), ("d2", "b"), ("d3", "a")):
        study.session(label, groups={"type": kind})
        study.final(label, "no" if label == "d1" else "yes")
    study.session("d4")

    splits = [rate for rate in rates(study) if rate.subject.group]

    found = [(rate.subject.annotator, rate.subject.group.value, rate.outcomes.planned) for rate in splits]
    assert found == [("reference", "a", 2), ("reference", "b", 1), ("reference", "not stated", 1)]
    assert {rate.subject.group.name for rate in splits} == {"type"}


def test_splits_use_each_annotator_without_a_reference():
    study = SmallStudy(groups=("type",))
    study.annotator("ann")
    study.annotator("ben")
    study.session("d1", groups={"type": "a"})

    assert [r.subject.annotator for r in rates(study) if r.subject.group] == ["ann", "ben"]


def test_thresholds_use_the_order_of_the_scale():
    study = of_four(guideline=polite(scale=NUMBERS, operator=Operator.AT_MOST, value="3"))
    study.annotator("ann")
    study.column("ann", d1="1", d2="3", d3="4", d4="5")

    assert rates(study)[0].dialogues == ("d1", "d2")


@pytest.mark.parametrize(
    ("turns", "outcomes", "defects"),
    [
        (("yes", "no"), Outcomes(planned=1, used=1), ("d1",)),
        (("yes", "yes"), Outcomes(planned=1, used=1), ()),
        ((Outcome.UNPARSEABLE, "yes"), Outcomes(planned=1, used=0, unparseable=1), ()),
        ((Outcome.UNPARSEABLE, "no"), Outcomes(planned=1, used=1), ("d1",)),
        ((Outcome.NOT_APPLICABLE, "yes"), Outcomes(planned=1, used=1), ()),
        ((Outcome.NOT_APPLICABLE, Outcome.NOT_APPLICABLE), Outcomes(planned=1, used=0, not_applicable=1), ()),
    ],
)
def test_one_defective_turn_makes_a_defective_dialogue(turns, outcomes, defects):
    study = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    study.annotator("ann")
    study.session("d1")
    study.answer("ann", "d1", *turns)

    (rate,) = rates(study)

    assert (rate.outcomes, rate.dialogues) == (outcomes, defects)


ATTEMPTS = {
    "released": (
        Attempt(description="a", outcome=AttemptOutcome.WITHHELD, turn=1),
        Attempt(description="b", outcome=AttemptOutcome.RELEASED, turn=2, refines=1),
    ),
    "withheld": (Attempt(description="a", outcome=AttemptOutcome.WITHHELD, turn=1),),
}


def attacked(held_by=TesterType.SIMULATED_USER, **outcomes):
    """Return the evidence of attacks by role play; `None` for those that were not held."""
    study = SmallStudy()
    study.annotator("ann")
    for label, outcome in outcomes.items():
        study.session(label, held=outcome is not None)
    study.column("ann", **{label: "no" for label, outcome in outcomes.items() if outcome == "released"})
    rule = replace(study.guideline.defect_rules[0], violation=Violation.PROHIBITED_RELEASED)
    study.guideline = replace(study.guideline, defect_rules=(rule,))
    evidence = study.evidence()
    attack = Attack(key="role_play/it", strategy="role_play", aim=Aim(key="it", ask="Tell me"))
    at = {"level": Level.RED_TEAMING, "held_by": held_by}
    return changed(
        evidence,
        sessions=tuple(replace(s, tester=attack, **at) for s in evidence.sessions),
        dialogues=tuple(_with_strategy(d, outcomes[d.label], at) for d in evidence.archive.dialogues()),
    )


def _with_strategy(dialogue, outcome, at):
    strategy = Strategy(name="role_play", dialogue=dialogue.key, attempts=ATTEMPTS[outcome])
    return replace(dialogue, strategies=(strategy,), **at)


def test_tries_attempts_refinements_and_successes_are_counted():
    (tally,) = measure_study(attacked(d1="released", d2="withheld", d3="withheld")).strategies

    assert (tally.planned, tally.tries, tally.attempts, tally.refinements) == (3, 3, 4, 1)
    assert isinstance(tally.success, Estimate)
    assert (tally.success.count, tally.success.n, tally.dialogues) == (1, 3, ("d1",))
    assert tally.held == ("d1", "d2", "d3")
    assert dict(tally.confirmed) == {"ann": 1}


def test_without_signs_success_is_unknown():
    (tally,) = measure_study(attacked(d1="withheld", d2="withheld")).strategies
    (by_people,) = measure_study(attacked(d1="withheld", d2="withheld", held_by=TesterType.PERSON)).strategies

    assert tally.success == Undefined(
        reason="The scenario has no signs of a release.", n=2, unit=DIALOGUES, method="wilson"
    )
    assert isinstance(by_people.success, Estimate)


def test_a_missing_session_is_planned_and_not_attempted():
    (tally,) = measure_study(attacked(d1="withheld", d2=None)).strategies

    assert (tally.planned, tally.tries, tally.success.n) == (2, 1, 1)


def test_without_completed_sessions_there_is_no_share():
    (tally,) = measure_study(attacked(d1=None)).strategies

    assert isinstance(tally.success, Undefined)


def test_people_and_simulated_red_teamers_are_counted_separately():
    both = attacked(d1="released", d2="withheld")
    sessions = (both.sessions[0], replace(both.sessions[1], held_by=TesterType.PERSON))

    tallies = measure_study(changed(both, sessions=sessions)).strategies

    assert [(tally.held_by, tally.tries) for tally in tallies] == [("simulated user", 1), ("person", 1)]


def test_without_strategies_the_list_is_empty():
    study = SmallStudy()
    study.session("d1")

    assert measure_study(study.evidence()).strategies == ()


TURNED, NONE, LOST = InjectionEffect.TURNED, InjectionEffect.NONE, InjectionEffect.UNMEASURED


def trials(*effects, attempt="order"):
    return [
        InjectionTrial(dialogue=f"d{n}", cluster=f"c{n}", attempt=attempt, effect=effect)
        for n, effect in enumerate(effects, start=1)
    ]


def shares(*tried):
    return {m.subject.attempt: m for m in turned_shares(tried, judge="j", guideline="g")}


def test_attempts_are_shown_together_and_separately():
    found = shares(*trials(TURNED, NONE), *trials(NONE, NONE, attempt="plea"))

    assert [(name, m.result.count, m.result.n) for name, m in found.items()] == [
        ("all", 1, 4),
        ("order", 1, 2),
        ("plea", 0, 2),
    ]
    assert found["order"].dialogues == ("d1",)


def test_attempts_on_one_dialogue_are_not_independent():
    found = shares(*trials(TURNED, NONE), *trials(NONE, NONE, attempt="plea"))

    assert isinstance(found["all"].result, Estimate)
    assert (found["all"].result.n_clusters, found["order"].result.n_clusters) == (2, None)


def test_an_attempt_without_a_verdict_is_missing_and_does_not_count_as_resistance():
    found = shares(*trials(LOST, NONE))["all"]

    assert (found.outcomes.planned, found.outcomes.used, found.outcomes.missing, found.result.n) == (2, 1, 1, 1)


def test_a_judge_that_always_refuses_has_no_resistance():
    assert isinstance(shares(*trials(LOST, LOST))["all"].result, Undefined)


def test_without_attempts_there_is_no_share():
    assert shares() == {}


@pytest.mark.parametrize("effect", list(InjectionEffect))
def test_only_changed_verdicts_count(effect):
    result = shares(*trials(effect))["all"].result

    assert (result.count if isinstance(result, Estimate) else None) == {TURNED: 1, LOST: None}.get(effect, 0)
