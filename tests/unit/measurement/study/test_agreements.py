"""Agreement in a study: who is held against whom, and what unreadable labels do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence_variants import labelled_evidence
from tests.unit.measurement.study.small_study import NUMBERS, SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.estimate import Outcomes, Undefined
from theodolite.domain.instrument import YES_NO, Operator, QuestionLevel, Scale, ScaleKind
from theodolite.measurement.study.findings import measure_study

RATES = {"defect_rate", "zero_defect_bound"}


UNREADABLE, REFUSED = Outcome.UNPARSEABLE, Outcome.REFUSED


def of_labels(*, people=(), judges=(), finals=(), **settings):
    """Return a study whose people and judges gave these columns of labels."""
    study = SmallStudy(reference=bool(finals), **settings)
    columns = [(AnnotatorKind.PERSON, labels) for labels in people] + [
        (AnnotatorKind.MODEL, labels) for labels in judges
    ]
    for number in range(max(len(labels) for _, labels in columns)):
        study.session(f"d{number}")
    for place, (kind, labels) in enumerate(columns):
        name = f"{kind.value} {place}"
        study.annotator(name, kind)
        for number, label in enumerate(labels):
            if label is not None:
                study.answer(name, f"d{number}", label)
    for number, label in enumerate(finals):
        study.final(f"d{number}", label)
    return study


def agreements(study):
    return [m for m in measure_study(study.evidence()).measurements if m.measure not in RATES]


def one(study, measure, *annotators, weighting=None, label="", second=""):
    (found,) = [
        m
        for m in agreements(study)
        if (m.measure, m.subject.label) == (measure, label)
        and weighting in {None, m.weighting}
        and annotators in {(), m.subject.annotators}
        and second in {"", m.subject.annotators[-1]}
    ]
    return found


def compared(study):
    return [m.subject.annotators for m in agreements(study) if m.measure == "exact_agreement"]


def test_every_pair_of_people_and_all_together_are_compared():
    study = of_labels(people=[["yes", "no"], ["yes", "no"], ["no", "no"]])

    assert compared(study) == [("person 0", "person 1"), ("person 0", "person 2"), ("person 1", "person 2")]
    assert one(study, "fleiss_kappa").subject.annotators == ("person 0", "person 1", "person 2")


def test_judges_are_compared_with_the_reference():
    study = of_labels(people=[["yes"], ["yes"]], judges=[["no"]], finals=["yes"])

    assert compared(study) == [("person 0", "person 1"), ("reference", "model 2")]


def test_without_a_reference_judges_are_compared_with_each_person():
    study = of_labels(people=[["yes"], ["yes"]], judges=[["no"]])

    assert compared(study)[1:] == [("person 0", "model 2"), ("person 1", "model 2")]


def test_a_single_judge_has_no_agreement():
    assert agreements(of_labels(judges=[["yes", "no"]])) == []


YES_OR_NO = (YES_NO, "no", ["yes", "no", "no"])


ORDERED = (Scale(kind=ScaleKind.CATEGORIES, labels=YES_NO.labels, ordered=True), "no", ["yes", "no", "no"])


FIVE_POINTS = (NUMBERS, "3", ["1", "5", "2"])


@pytest.mark.parametrize(
    ("scale", "alphas"),
    [
        (YES_OR_NO, ["nominal"]),
        (ORDERED, ["nominal", "ordinal"]),
        (FIVE_POINTS, ["nominal", "ordinal", "interval"]),
    ],
    ids=["categories", "ordered categories", "numbers"],
)
def test_measures_match_the_scale(scale, alphas):
    points, value, labels = scale
    study = of_labels(people=[labels] * 2, guideline=polite(scale=points, value=value))

    found = agreements(study)

    relaxed = ["relaxed_agreement"] if len(alphas) > 1 else []
    plain = ["exact_agreement", *relaxed, "cohen_kappa", "fleiss_kappa"]
    labels = [m.measure for m in found if m.measure != "score_agreement"]
    assert labels == plain + ["krippendorff_alpha"] * len(alphas)
    assert [m.weighting for m in found if m.measure == "krippendorff_alpha"] == alphas


def test_an_unparseable_label_is_excluded_and_counted():
    study = of_labels(people=[["yes", "no", "yes"]], judges=[["yes", UNREADABLE, "yes"]])

    agreement = one(study, "exact_agreement")

    assert (agreement.result.count, agreement.result.n) == (2, 2)
    assert agreement.outcomes == Outcomes(planned=3, used=2, unparseable=1)


def test_bounds_cover_the_possible_effect_of_unparseable_labels():
    study = of_labels(people=[["yes", "no", "yes", "no"]], judges=[["yes", UNREADABLE, "no", REFUSED]])

    assert one(study, "exact_agreement").bounds == (0.25, 0.75)
    assert one(of_labels(people=[["yes"]], judges=[["yes"]]), "exact_agreement").bounds is None


def test_without_parseable_labels_agreement_is_undefined():
    study = of_labels(people=[[UNREADABLE] * 30] * 3, judges=[[UNREADABLE] * 30] * 2)

    found = agreements(study)

    assert len(found) > 10
    assert all(isinstance(m.result, Undefined) and m.result.n == 0 and m.bounds is None for m in found)
    assert one(study, "fleiss_kappa", "person 0", "person 1", "person 2").result.reason == (
        "No dialogue has readable labels from two annotators. Of 30 dialogues 30 unparseable."
    )


STRANGE = (Outcome.UNPARSEABLE, Outcome.REFUSED, Outcome.NOT_APPLICABLE, Outcome.MISSING)


PERCENT = ["1", "3", "2", "5", "4", "2", "2", "1"]


@pytest.mark.parametrize("strange", STRANGE, ids=lambda outcome: outcome.value)
def test_all_coefficients_of_a_pair_use_the_same_dialogues(strange):
    """Whatever a label is that cannot be read, no coefficient counts it and none drops more than another."""
    guideline = polite(scale=NUMBERS, operator=Operator.AT_MOST, value="3")
    columns = [[strange, *PERCENT], ["2", "3", strange, *PERCENT[2:]], ["2", strange, *PERCENT[:-1]]]
    with_strange = of_labels(people=columns[:2], judges=columns[2:], guideline=guideline)
    nothing = [[None if label is strange else label for label in column] for column in columns]
    without = of_labels(people=nothing[:2], judges=nothing[2:], guideline=guideline)

    found, plain = agreements(with_strange), agreements(without)

    assert [m.result for m in found] == [m.result for m in plain]
    assert all(m.result.n == m.outcomes.used for m in found)


def test_missing_labels_are_excluded_and_counted():
    study = of_labels(people=[["yes", "no", None, "yes"]], judges=[["yes", "no", "no", None]])
    study.fail("d3", "model 1")

    agreement = one(study, "exact_agreement")

    assert agreement.result.n == 2
    assert agreement.outcomes == Outcomes(planned=4, used=2, missing=1, failed=1)


def test_a_panel_needs_two_labels_per_dialogue():
    study = of_labels(people=[["yes", "no", None, "no"], ["yes", "no", "no", None], [None, "no", None, "yes"]])

    panel = one(study, "fleiss_kappa")

    assert panel.outcomes == Outcomes(planned=4, used=3, missing=1)
    assert panel.result.n == 3


def test_alpha_is_undefined_if_all_answers_are_equal():
    study = of_labels(people=[["yes"] * 5] * 2)

    assert isinstance(one(study, "cohen_kappa").result, Undefined)
    assert isinstance(one(study, "fleiss_kappa").result, Undefined)


def test_questions_about_turns_are_not_compared():
    study = of_labels(people=[["yes", "no"]] * 2, guideline=polite(level=QuestionLevel.TURN))

    assert agreements(study) == []


def test_confusion_matrices_compare_judges_with_the_reference_and_each_person():
    study = of_labels(people=[["yes"], ["yes"]], judges=[["no"]], finals=["yes"])

    confusions = measure_study(study.evidence()).confusions

    assert [(c.first, c.second) for c in confusions] == [
        ("person 0", "person 1"),
        ("reference", "model 2"),
        ("person 0", "model 2"),
        ("person 1", "model 2"),
    ]


def test_unparseable_is_a_category_only_where_it_occurs():
    clean, marked = (of_labels(people=[["yes", label], ["yes", "no"]]) for label in ("no", UNREADABLE))

    categories = [measure_study(study.evidence()).confusions[0].matrix.categories for study in (clean, marked)]

    assert categories == [("yes", "no"), ("yes", "no", "unparseable")]


def panels_of_judges():
    study = SmallStudy()
    for name, panel in (("a", "three"), ("b", "three"), ("c", "three"), ("alone", "")):
        study.annotator(name, AnnotatorKind.MODEL)
        study.annotators[-1] = replace(study.annotators[-1], panel=panel)
    for label in ("d1", "d2", "d3"):
        study.session(label)
        for name in ("a", "b", "c", "alone"):
            study.answer(name, label, "yes" if label != "d3" or name == "c" else "no")
    return study


def test_every_pair_of_judges_all_judges_and_each_panel_are_compared():
    found = measure_study(panels_of_judges().evidence())

    exact = [m.subject.annotators for m in found.measurements if m.measure == "exact_agreement"]
    pairs = [("a", "b"), ("a", "c"), ("a", "alone"), ("b", "c"), ("b", "alone"), ("c", "alone")]
    assert exact == pairs
    together = [m.subject.annotators for m in found.measurements if m.measure == "fleiss_kappa"]
    assert together == [("a", "b", "c", "alone"), ("a", "b", "c")]
    assert [(one.first, one.second) for one in found.confusions] == pairs


def test_two_judges_without_a_panel_are_a_pair_and_no_group():
    study = of_labels(judges=[["yes", "no"], ["yes", "no"]])

    assert compared(study) == [("model 0", "model 1")]
    assert not [m for m in agreements(study) if m.measure == "fleiss_kappa"]


def test_three_annotators_are_unanimous_if_all_labels_are_equal():
    study = panels_of_judges()

    unanimous = one(study, "unanimity", "a", "b", "c")

    assert (unanimous.result.count, unanimous.result.n) == (2, 3)
    assert unanimous.result.chance == pytest.approx((7 / 9) ** 3 + (2 / 9) ** 3)


def test_each_label_of_the_reference_has_precision_recall_and_f1():
    study = of_labels(judges=[["yes", "no", "no", UNREADABLE]], finals=["yes", "yes", "no", "no"])

    recall = one(study, "class_recall", label="yes", second="model 0")
    precision = one(study, "class_precision", label="no", second="model 0")

    assert (recall.result.count, recall.result.n) == (1, 2)
    assert (precision.result.count, precision.result.n) == (1, 2)
    assert one(study, "macro_f1").result.value == pytest.approx(2 / 3)
    assert one(study, "macro_f1").outcomes == Outcomes(planned=4, used=3, unparseable=1)


def test_the_majority_of_people_is_compared_with_the_reference():
    columns = [["yes", "no", "yes", UNREADABLE], ["yes", "no", "no", UNREADABLE], ["no", "no", None, "no"]]
    study = of_labels(people=columns, finals=["yes", "yes", "yes", "no"])

    most = one(study, "exact_agreement", second="majority of people")

    assert (most.result.count, most.result.n) == (1, 2)
    assert most.outcomes == Outcomes(planned=4, used=2, missing=1, unparseable=1)
    assert one(study, "class_recall", label="yes", second="majority of people").result.count == 1


def test_two_people_are_no_majority():
    study = of_labels(people=[["yes"], ["yes"]], finals=["yes"])

    assert not [m for m in agreements(study) if "majority of people" in m.subject.annotators]


def test_dialogues_that_share_a_persona_make_agreement_less_certain():
    def exact(clusters):
        study = SmallStudy()
        for name in ("ann", "ben"):
            study.annotator(name)
        for number in range(12):
            study.session(f"d{number}", cluster=f"persona {number % 3}" if clusters else "")
            study.column("ann", **{f"d{number}": "yes"})
            study.column("ben", **{f"d{number}": "yes" if number % 3 else "no"})
        return next(m.result for m in measure_study(study.evidence()).measurements if m.measure == "exact_agreement")

    alone, shared = exact(clusters=False), exact(clusters=True)

    assert alone.value == shared.value
    assert shared.n_clusters == 3
    assert shared.high - shared.low > alone.high - alone.low


def measured(*names, guideline):
    study = SmallStudy(guideline=guideline)
    for name in names:
        study.annotator(name)
    for number, label in enumerate("abcde", start=1):
        study.session(label)
        for shift, name in enumerate(names):
            study.column(name, **{label: str(min(5, number + shift))})
    return [one for one in measure_study(study.evidence()).measurements if one.measure == "score_agreement"]


def test_numbers_are_compared_by_distance_bias_and_rank():
    found = {
        one.statistic: one.result.value for one in measured("ann", "ben", guideline=polite(scale=NUMBERS, value="1"))
    }

    assert set(found) == {"rmse", "bias", "pearson", "spearman", "kendall"}
    assert found["bias"] == pytest.approx(0.8)


def test_labels_without_distances_have_no_distance_measures():
    assert measured("ann", "ben", guideline=polite()) == []


@pytest.fixture(scope="module")
def found():
    evidence = labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    (only,) = measure_study(evidence).raters
    return only


def test_rater_models_include_judges_and_people(found):
    assert [one.annotator for one in found.raters] == ["grounded", "anna", "ben"]
    assert (found.guideline, found.question) == ("groundedness", "score")
    assert found.raters[1].labels == 30
    assert found.dialogues == 30


def test_raters_with_perfect_agreement_fit_and_do_not_guess(found):
    assert all(one.fit > 0.9 and one.looks > 0.8 for one in found.raters)


def test_errors_of_two_annotators_cannot_be_separated():
    assert measure_study(labelled_evidence(lambda said: said or "1", people=("anna",))).raters == ()
