import math
from dataclasses import replace
from itertools import combinations

import pytest

from tests.fakes.report import evidence_named, findings_named
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.study_parts import Typology
from theodolite.measurement.comparison import newcombe_difference
from theodolite.measurement.interval import wilson
from theodolite.measurement.study.differences import GAP_METHOD, comparisons_of, group_gaps, typology_rates


def found(findings, application, rule):
    return next(gap for gap in findings.gaps if (gap.subject.application, gap.subject.rule) == (application, rule))


def test_without_variants_each_application_is_compared_with_the_first():
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


def test_a_variant_is_compared_with_its_application_only():
    evidence = evidence_named("xstest")
    applications = tuple(
        replace(one, variant_of="mistralinstruct") if one.name == "mistralguard" else one
        for one in evidence.study.applications
    )
    changed = replace(evidence, study=replace(evidence.study, applications=applications))

    comparisons = comparisons_of(changed, findings_named("xstest").measurements)

    assert [(one.first.name, one.second.name) for one in comparisons] == [("mistralinstruct", "mistralguard")]


def test_a_single_application_has_no_comparison():
    assert findings_named("live").comparisons == ()


def test_a_gap_is_the_highest_minus_the_lowest_rate_of_the_report():
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


def test_the_interval_of_a_gap_covers_all_pairs_of_groups():
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


def test_disagreement_among_people_leaves_no_gap():
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


def typed(typology):
    evidence = evidence_named("xstest")
    return replace(evidence, study=replace(evidence.study, typology=typology))


OPEN = {"open": ("llama2orig", "llama2new"), "guarded": ("mistralguard",)}


def test_rates_of_types_are_the_sums_of_their_applications_and_groups():
    evidence = typed(Typology(by="type", applications=OPEN))
    expected: dict[tuple[str, str, str], list[int]] = {}
    for one in findings_named("xstest").measurements:
        if one.measure is Measure.DEFECT_RATE and one.subject.group and one.subject.annotator == "reference":
            kind = next((kind for kind, names in OPEN.items() if one.application in names), "")
            sums = expected.setdefault((one.subject.rule, one.subject.group.value, kind), [0, 0])
            sums[0] += one.result.count
            sums[1] += one.result.n

    found = list(typology_rates(evidence))

    assert found
    for one in found:
        counts = expected[one.subject.rule, one.user_type, one.application_type]
        assert [one.rate.count, one.rate.n] == counts


def test_a_prompt_shared_by_several_applications_is_one_cluster():
    evidence = typed(Typology(by="type", applications=OPEN))
    (of_two, of_one) = list(typology_rates(evidence))[:2]

    assert (of_two.applications, of_one.applications) == (OPEN["open"], OPEN["guarded"])
    assert of_two.n_users == of_one.n_users
    assert (of_two.rate.n_clusters, of_two.rate.n) == (of_two.n_users, 2 * of_two.n_users)
    assert of_one.rate.n == of_one.n_users


def test_group_values_are_mapped_to_types_and_others_are_omitted():
    kinds = sorted({setting.groups["type"] for setting in evidence_named("xstest").answers.settings})
    evidence = typed(Typology(by="type", users={"first": tuple(kinds[:2])}, applications=OPEN))

    assert {one.user_type for one in typology_rates(evidence)} == {"first", "not stated"}


def test_rates_over_fewer_than_five_people_are_withheld():
    evidence = typed(Typology(by="type", applications=OPEN))
    settings = tuple(
        replace(one, held_by=TesterType.PERSON, cluster=f"p{place % 4}")
        for place, one in enumerate(evidence.answers.settings)
    )
    answers = replace(evidence.answers, settings=settings)

    assert {one.rate for one in typology_rates(replace(evidence, answers=answers))} == {None}


def test_a_study_without_a_typology_has_no_such_rates():
    assert list(typology_rates(evidence_named("xstest"))) == []
