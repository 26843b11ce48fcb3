"""How many dialogues a question needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.comparison import ComparedSide, RuleVerdict, Ruling
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.measurement.proportion import defect_rate, zero_defect_bound
from theodolite.measurement.sample_size import (
    compare_by_mitigation,
    compare_sides,
    detectable_difference,
    n_for_difference,
    n_for_flips,
    n_for_rate,
    n_for_zero_defects,
)


def test_correlated_clusters_need_more_cases():
    alone = n_for_difference(0.03, 1 / 9)

    assert n_for_difference(0.03, 1 / 9, cluster_size=25, correlation=0.1) == pytest.approx(3.4 * alone, abs=2)


def test_the_number_for_a_difference_is_the_smallest_that_detects_it():
    n = n_for_difference(0.05, 0.2)

    assert detectable_difference(n, 0.2) <= 0.05 < detectable_difference(n - 1, 0.2)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5])
def test_the_number_for_a_rate_is_the_smallest_with_a_narrow_enough_interval(rate):
    n = n_for_rate(rate, 0.03)

    found = defect_rate(round(rate * n), n)
    assert (found.high - found.low) / 2 == pytest.approx(0.03, abs=1.5e-3)
    assert n_for_rate(rate, 0.02) > n


@pytest.mark.parametrize("size", [1, 10, 25])
def test_the_number_of_dialogues_that_rules_a_rate_out_is_minimal(size):
    n = n_for_zero_defects(0.02, cluster_size=size)

    def bound(dialogues):
        return zero_defect_bound(dialogues, clusters=[size] * (dialogues // size)).value

    assert n % size == 0
    assert bound(n) <= 0.02 < bound(n - size)


def test_clusters_need_more_dialogues_than_independent_ones_for_the_same_claim():
    assert n_for_zero_defects(0.03) == 99
    assert n_for_zero_defects(0.03, cluster_size=5) > 99
    assert n_for_zero_defects(0.03, cluster_size=2) > 99


def test_a_claim_that_no_number_of_clusters_can_support_is_refused():
    with pytest.raises(InputError, match=r"no claim of"):
        n_for_zero_defects(1e-7, cluster_size=10)


@pytest.mark.parametrize(
    "plan",
    [
        lambda: n_for_difference(0, 1),
        lambda: n_for_difference(0.1, 1, cluster_size=0.5),
        lambda: n_for_difference(0.1, 1, power=1.0),
        lambda: detectable_difference(0, 1),
        lambda: n_for_flips(0.1, 0.1),
        lambda: n_for_flips(0.7, 0.6),
        lambda: n_for_rate(1.2, 0.1),
        lambda: n_for_rate(0.2, 0.5),
        lambda: n_for_zero_defects(0.0),
        lambda: n_for_zero_defects(0.1, cluster_size=0),
    ],
)
def test_invalid_requests_are_refused(plan):
    with pytest.raises(InputError, match=r"must be|fractions"):
        plan()


def ruling(defects, n=60, missing=(), *, clusters=0, judge="1", rule="r"):
    verdicts = {
        f"p{p}": RuleVerdict(
            dialogue=f"d{p}",
            is_defect=None if p in missing else p in defects,
            cluster=str(p % clusters) if clusters else "",
        )
        for p in range(n)
    }
    return Ruling(
        subject=EstimateSubject(application="", guideline="g", rule=rule, annotators=("judge",)),
        instruments={"guideline g": "v", "annotator judge": judge},
        verdicts=verdicts,
    )


def side(name, *rulings, mitigations=(), family=""):
    return ComparedSide(
        name=name,
        application=name,
        study="s",
        run=1,
        plan="p",
        rulings=rulings,
        mitigations=mitigations,
        family=family,
    )


def test_pairs_missing_on_one_side_are_counted_and_excluded():
    first, second = side("a", ruling({1, 2}, missing={5, 6})), side("b", ruling({2}, n=58, missing={6, 7}))

    (rate,) = compare_sides(first, second).rates

    assert (rate.n, rate.n_unmeasured, rate.n_unpaired) == (55, 3, 2)
    assert [(flip.first, flip.is_fixed) for flip in rate.flips] == [("d1", True)]


def test_an_undetected_difference_states_the_required_number_of_pairs():
    (rate,) = compare_sides(side("a", ruling(set(range(9)))), side("b", ruling({7, 8, 20, 21}))).rates

    assert rate.difference.low < 0 < rate.difference.high
    assert 120 < rate.n_wanted < 220


def test_a_detected_difference_needs_no_more_pairs():
    (rate,) = compare_sides(side("a", ruling(set(range(30)))), side("b", ruling(set()))).rates

    assert (rate.n_wanted, rate.difference.high < 0) == (None, True)
    assert rate.adjusted < 1e-6


def test_pairs_of_one_cluster_are_tested_together():
    (rate,) = compare_sides(
        side("a", ruling(set(range(0, 60, 5)), clusters=5)), side("b", ruling(set(), clusters=5))
    ).rates

    assert rate.difference.n_clusters == 5
    assert "permutation of clusters" in rate.test.method
    assert rate.test.p_value == 1


def test_other_versions_of_an_instrument_are_shown_separately():
    (rate,) = compare_sides(side("a", ruling({1})), side("b", ruling({2, 3}, judge="2"))).rates

    assert isinstance(rate.difference, Undefined)
    assert "`annotator judge` is not the same version" in rate.changed
    assert (rate.test, rate.n_first, rate.n_second) == (None, 1, 2)


def test_sides_without_a_common_pair_have_no_difference():
    strangers = replace(ruling({1}), verdicts={"x": RuleVerdict(dialogue="x", is_defect=True)})

    (rate,) = compare_sides(side("a", ruling({1})), side("b", strangers)).rates

    assert (rate.n, rate.n_unpaired) == (0, 61)
    assert isinstance(rate.difference, Undefined)


def test_p_values_are_adjusted_for_all_rates_of_an_annotator():
    sides = (
        side(name, ruling(bad, rule="r"), ruling(bad, rule="q"))
        for name, bad in (("a", {1, 2, 3, 4, 5, 6}), ("b", set()))
    )

    rates = compare_sides(*sides).rates

    assert [rate.adjusted for rate in rates] == [pytest.approx(2 * rate.test.p_value) for rate in rates]
    assert all(isinstance(rate.difference, Estimate) for rate in rates)


def test_mitigations_are_compared_among_the_variants_of_one_application_alone():
    sides = [
        side("bot", ruling({"a"}), family="bot"),
        side("other", ruling({"a"}), family="other"),
        side("guarded", ruling(set()), mitigations=("filter",), family="bot"),
    ]

    assert [(one.first.name, one.second.name) for one in compare_by_mitigation(sides)] == [("bot", "guarded")]


def test_mitigations_are_compared_one_at_a_time():
    sides = (
        side("none", ruling({1})),
        side("filter", ruling(set()), mitigations=("filter",)),
        side("both", ruling(set()), mitigations=("filter", "prompt")),
    )

    found = [(one.mitigation, one.first.name, one.second.name) for one in compare_by_mitigation(sides)]

    assert found == [("filter", "none", "filter"), ("prompt", "filter", "both")]
