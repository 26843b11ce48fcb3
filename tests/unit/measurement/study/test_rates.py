"""Rates of a study: whole denominators, every label for itself."""

from __future__ import annotations

import pytest

from tests.unit.measurement.study.small_study import CALLABLE, NUMBERS, SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.estimate import Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.guideline import Violation
from theodolite.domain.instrument import Operator, QuestionLevel
from theodolite.measurement import measure_study


def rates(study, measure="defect_rate"):
    return [m for m in measure_study(study.evidence()).measurements if m.measure == measure]


def of_four(*, held=("d1", "d2", "d3", "d4"), **settings):
    study = SmallStudy(**settings)
    for label in ("d1", "d2", "d3", "d4"):
        study.session(label, held=label in held)
    return study


def test_without_a_reference_there_is_a_rate_of_each_annotator():
    study = of_four()
    study.annotator("ann")
    study.annotator("ben")
    study.column("ann", d1="yes", d2="no", d3="no", d4="yes")
    study.column("ben", d1="yes", d2="no", d3="yes", d4="yes")

    assert [(rate.subject.annotator, rate.result.count, rate.dialogues) for rate in rates(study)] == [
        ("ann", 2, ("d2", "d3")),
        ("ben", 1, ("d2",)),
    ]


def test_a_rate_says_what_it_is_about():
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


def test_the_reference_stands_beside_the_annotators():
    study = of_four(reference=True)
    study.annotator("ann")
    for label in ("d1", "d2", "d3", "d4"):
        study.final(label, "no")

    assert [rate.subject.annotator for rate in rates(study)] == ["reference", "ann"]
    assert rates(study)[0].result.value == 1.0


def test_columns_of_a_recorded_file_say_nothing_of_live_dialogues():
    study = of_four(reference=True, connection=CALLABLE)
    study.annotator("ann")
    study.annotator("large", AnnotatorKind.MODEL)
    study.column("large", d1="yes", d2="no", d3="no", d4="yes")

    assert [rate.subject.annotator for rate in rates(study)] == ["large"]


def test_every_planned_session_is_in_the_account():
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


def test_what_does_not_apply_is_neither_measured_nor_unmeasured():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="no", d2="yes", d3=Outcome.NOT_APPLICABLE, d4=Outcome.REFUSED)

    (rate,) = rates(study)

    assert rate.outcomes == Outcomes(planned=4, used=2, not_applicable=1, refused=1)
    assert rate.bounds == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_all_measured_needs_no_bounds():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="no", d3="no", d4="yes")

    assert rates(study)[0].bounds is None


def test_a_label_off_the_scale_is_unparseable():
    study = of_four()
    study.annotator("ann")
    study.column("ann", d1="yes", d2="perhaps", d3="no", d4="yes")

    assert rates(study)[0].outcomes.unparseable == 1


def test_nothing_measured_is_undefined_and_says_why():
    study = of_four(held=("d1", "d2"), connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.fail("d1", "large")
    study.answer("large", "d2", Outcome.UNPARSEABLE)

    (rate,) = rates(study)

    assert isinstance(rate.result, Undefined)
    assert rate.result.reason == ("None of 4 planned dialogues has a label: 1 failed, 1 unparseable, 2 missing.")
    assert rates(study, "zero_defect_bound") == []


def test_a_rule_about_a_group_that_nobody_is_in_is_undefined():
    study = of_four(guideline=polite(among={"kind": "safe"}))
    study.annotator("ann")

    assert rates(study)[0].result.reason == "No dialogue is planned that this rule is about."


def test_only_dialogues_of_the_rules_group_are_in_its_denominator():
    study = SmallStudy(guideline=polite(among={"kind": "safe"}))
    study.annotator("ann")
    for label, kind in (("d1", "safe"), ("d2", "unsafe")):
        study.session(label, groups={"kind": kind})
        study.answer("ann", label, "no")

    assert (rates(study)[0].result.n, rates(study)[0].dialogues) == (1, ("d1",))


def test_no_defect_comes_with_a_bound():
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


def test_splits_are_by_the_reference_where_there_is_one():
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


def test_splits_are_by_each_annotator_where_there_is_no_reference():
    study = SmallStudy(groups=("type",))
    study.annotator("ann")
    study.annotator("ben")
    study.session("d1", groups={"type": "a"})

    assert [r.subject.annotator for r in rates(study) if r.subject.group] == ["ann", "ben"]


def test_thresholds_compare_on_the_scale():
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
def test_one_turn_with_a_defect_makes_the_dialogue_a_defect(turns, outcomes, defects):
    study = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    study.annotator("ann")
    study.session("d1")
    study.answer("ann", "d1", *turns)

    (rate,) = rates(study)

    assert (rate.outcomes, rate.dialogues) == (outcomes, defects)
