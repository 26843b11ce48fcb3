"""The published XSTest figures, recomputed from the rows by way of a whole study."""

from __future__ import annotations

from functools import cache

import pytest

from tests.golden.published import SYSTEMS
from tests.golden.xstest_study import evidence
from theodolite.domain.estimate import Undefined
from theodolite.measurement.study.findings import measure_study

REFUSED = (95, 35, 2, 24, 16)
ANSWERED = (0, 0, 128, 7, 1)
HUMAN_AGREEMENT = (0.9644, 0.9578, 0.9756, 0.9378, 0.9844)
HUMAN_FLEISS = (0.929, 0.926, 0.920, 0.892, 0.970)
GPT4_AGREES = (347, 352, 333, 345, 421)
KEYWORDS_AGREE = (361, 385, 383, 342, 416)


@cache
def findings():
    return measure_study(evidence())


def one(measure, application, **subject):
    (found,) = [
        measurement
        for measurement in findings().measurements
        if (measurement.measure, measurement.application) == (measure, application)
        and measurement.subject.group is None
        and all(getattr(measurement.subject, name) == value for name, value in subject.items())
    ]
    return found


@pytest.mark.parametrize(("rule", "counts", "n"), [("withheld", REFUSED, 250), ("released", ANSWERED, 200)])
def test_both_sides_of_the_guardrail_have_the_published_rates(rule, counts, n):
    rates = [one("defect_rate", system, rule=rule, annotators=("reference",)) for system in SYSTEMS]

    assert [(rate.result.count, rate.result.n) for rate in rates] == [(count, n) for count in counts]
    assert [len(rate.dialogues) for rate in rates] == list(counts)


@pytest.mark.parametrize(("rule", "share"), [("withheld", 0.380), ("partly withheld", 0.216)])
def test_llama2orig_refuses_safe_prompts_as_often_as_published(rule, share):
    rate = one("defect_rate", "llama2orig", rule=rule, annotators=("reference",))

    assert (rate.result.value, rate.result.n) == (pytest.approx(share, abs=1e-12), 250)
    assert rate.bounds is None


@pytest.mark.parametrize("system", ["llama2orig", "llama2new"])
def test_zero_full_answers_have_an_upper_bound(system):
    bound = one("zero_defect_bound", system, rule="released", annotators=("reference",))

    assert bound.result.value == pytest.approx(0.0149, abs=5e-5)


def test_people_agree_as_often_as_published():
    agreements = [one("exact_agreement", system, annotators=("annotator 1", "annotator 2")) for system in SYSTEMS]

    assert [agreement.result.value for agreement in agreements] == pytest.approx(HUMAN_AGREEMENT, abs=5.1e-5)


def test_people_agree_beyond_chance_as_published():
    kappas = [one("fleiss_kappa", system, annotators=("annotator 1", "annotator 2")) for system in SYSTEMS]

    assert [kappa.result.value for kappa in kappas] == pytest.approx(HUMAN_FLEISS, abs=5.1e-4)
    assert all(kappa.result.low < kappa.result.value < kappa.result.high < 1 for kappa in kappas)


@pytest.mark.parametrize(("judge", "counts"), [("gpt-4", GPT4_AGREES), ("keywords", KEYWORDS_AGREE)])
def test_agreement_of_judges_with_people_follows_from_the_rows(judge, counts):
    """Of 450 replies each; the lower bound counts a verdict that cannot be read as disagreement."""
    agreements = [one("exact_agreement", system, annotators=("reference", judge)) for system in SYSTEMS]

    assert [agreement.result.count for agreement in agreements] == list(counts)
    assert [agreement.result.n + agreement.outcomes.unparseable for agreement in agreements] == [450] * 5
    lowest = [agreement.bounds[0] if agreement.bounds else agreement.result.value for agreement in agreements]
    assert lowest == pytest.approx([count / 450 for count in counts], abs=1e-12)


def test_unparseable_verdicts_are_counted_separately_and_bound_the_agreement():
    agreement = one("exact_agreement", "mistralinstruct", annotators=("reference", "gpt-4"))

    assert (agreement.outcomes.unparseable, agreement.outcomes.missing, agreement.outcomes.used) == (11, 0, 439)
    assert (agreement.result.count, agreement.result.n) == (333, 439)
    assert agreement.bounds == (333 / 450, 344 / 450)


def test_kappa_of_the_judge_is_nearly_zero_where_refusals_are_rare():
    """scikit-learn gives .0818 of the 439 verdicts that can be read (.0637 with the 11 others as a label)."""
    kappa = one("cohen_kappa", "mistralinstruct", annotators=("reference", "gpt-4"))

    assert kappa.result.value == pytest.approx(0.0817712, abs=5e-8)
    assert kappa.result.n == 439


def test_the_two_judges_are_compared_with_each_other():
    agreements = [one("exact_agreement", system, annotators=("gpt-4", "keywords")) for system in SYSTEMS]

    assert [agreement.result.n for agreement in agreements] == [450, 450, 439, 450, 450]


def test_by_the_judge_alone_llama2orig_would_refuse_less():
    by_judge = one("defect_rate", "llama2orig", rule="withheld", annotators=("gpt-4",))

    assert by_judge.result.count == 76


def test_unparseable_verdicts_are_a_category_of_the_confusion_matrix():
    (confusion,) = [
        confusion
        for confusion in findings().confusions
        if (confusion.application, confusion.first, confusion.second) == ("mistralinstruct", "reference", "gpt-4")
    ]

    assert confusion.matrix.categories[-1] == "unparseable"
    assert sum(row[-1] for row in confusion.matrix.counts) == 11
    assert confusion.matrix.n == 450


def test_every_disposition_adds_up_and_every_rate_has_a_label():
    rates = [m for m in findings().measurements if m.measure == "defect_rate"]

    assert not any(isinstance(rate.result, Undefined) for rate in rates)
    assert sum(rate.outcomes.planned for rate in rates if rate.subject.annotator == "reference") == 2 * 5 * 700
