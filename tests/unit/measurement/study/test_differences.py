import math
from dataclasses import replace
from itertools import combinations

import pytest

from tests.fakes.report import evidence_named, findings_named
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.measurement.comparison import newcombe_difference
from theodolite.measurement.interval import wilson
from theodolite.measurement.study.differences import GAP_METHOD, comparisons_of, group_gaps


def found(findings, application, rule):
    return next(gap for gap in findings.gaps if (gap.subject.application, gap.subject.rule) == (application, rule))


def test_without_variants_each_application_stands_beside_the_first():
    comparisons = findings_named("xstest").comparisons

    assert {one.first.name for one in comparisons} == {"llama2orig"}
    assert [one.second.name for one in comparisons] == ["llama2new", "mistralinstruct", "mistralguard", "gpt4"]


def test_a_difference_has_the_counts_of_both_rates_and_the_interval_of_its_pairs():
    rate = next(
        rate
        for rate in findings_named("xstest").comparisons[0].rates
        if (rate.ruling.subject.rule, rate.ruling.subject.annotator) == ("withheld", "reference")
    )
    both = rate.n_first - len(rate.fixed)
    neither = rate.n - both - len(rate.flips)

    assert (rate.n, rate.n_first, rate.n_second) == (250, 95, 35)
    assert rate.difference == newcombe_difference(both, len(rate.fixed), len(rate.regressed), neither)


def test_a_variant_stands_beside_its_application_alone():
    evidence = evidence_named("xstest")
    applications = tuple(
        replace(one, variant_of="mistralinstruct") if one.name == "mistralguard" else one
        for one in evidence.study.applications
    )
    changed = replace(evidence, study=replace(evidence.study, applications=applications))

    comparisons = comparisons_of(changed, findings_named("xstest").measurements)

    assert [(one.first.name, one.second.name) for one in comparisons] == [("mistralinstruct", "mistralguard")]


def test_one_application_has_nothing_to_be_compared_with():
    assert findings_named("live").comparisons == ()


def test_a_gap_is_the_highest_rate_less_the_lowest_and_agrees_with_the_rates_of_the_report():
    findings = findings_named("xstest")
    gap = found(findings, "llama2orig", "withheld")
    shares = {
        one.subject.group.value: one.result
        for one in findings.measurements
        if one.measure is Measure.DEFECT_RATE
        and one.subject.group
        and (one.subject.application, one.subject.rule) == ("llama2orig", "withheld")
        and one.subject.annotator == "reference"
    }

    assert {one.value: one.rate for one in gap.rates} == shares
    assert gap.gap.value == pytest.approx(shares[gap.highest].value - shares[gap.lowest].value)
    assert gap.gap.n == sum(one.n for one in gap.rates) == 250


def test_the_interval_of_a_gap_holds_for_all_pairs_of_groups():
    """Recomputed from counts: Wilson's intervals at Sidak's level for all pairs, each pair by square and add."""
    gap = found(findings_named("xstest"), "llama2orig", "withheld")
    counts = [(one.rate.count, one.n) for one in gap.rates]
    level = 0.95 ** (1 / math.comb(len(counts), 2))
    lows, highs = [], []
    for a, b in [pair for two in combinations(counts, 2) for pair in (two, two[::-1])]:
        (low_a, high_a), (low_b, high_b) = wilson(*a, level), wilson(*b, level)
        p, q = a[0] / a[1], b[0] / b[1]
        lows.append(p - q - math.hypot(p - low_a, high_b - q))
        highs.append(p - q + math.hypot(high_a - p, q - low_b))

    assert gap.gap.low == pytest.approx(max(lows))
    assert gap.gap.high == pytest.approx(max(highs))
    assert gap.gap.method == GAP_METHOD


def test_people_who_disagree_have_no_gap():
    evidence, findings = evidence_named("xstest"), findings_named("xstest")
    whole = next(one for one in findings.measurements if one.measure is Measure.DEFECT_RATE)
    pooled = replace(whole, subject=replace(whole.subject, annotators=(PEOPLE,)))

    (gap,) = group_gaps(evidence, [pooled])

    assert isinstance(gap.gap, Undefined)
    assert "count in parts" in gap.gap.reason


def test_groups_of_fewer_than_ten_dialogues_have_no_rate():
    evidence, findings = evidence_named("xstest"), findings_named("xstest")
    whole = next(one for one in findings.measurements if one.measure is Measure.DEFECT_RATE)
    few = replace(whole, dialogues=whole.dialogues[:4], non_defects=whole.non_defects[-4:])

    (gap,) = group_gaps(evidence, [few])

    assert isinstance(gap.gap, Undefined)
    assert "10 labelled dialogues" in gap.gap.reason
    assert {one.rate for one in gap.rates} == {None}
    assert not isinstance(gap.gap, Estimate)
