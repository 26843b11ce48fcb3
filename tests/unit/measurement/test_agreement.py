"""Plain agreement: counting, chance and refusals."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.agreement import (
    classification_report,
    exact_agreement,
    majority_labels,
    relaxed_agreement,
    unanimity,
)
from theodolite.measurement.proportion import defect_rate


def test_chance_agreement_follows_the_label_frequencies():
    agreement = exact_agreement(["yes"] * 9 + ["no"], ["yes"] * 8 + ["no"] * 2)

    assert agreement.chance == pytest.approx(0.9 * 0.8 + 0.1 * 0.2)


def test_text_labels_need_the_order_of_the_scale():
    with pytest.raises(InputError, match="needs numbers, or `categories` with the scale in order"):
        relaxed_agreement(["low"], ["high"])


def test_steps_are_counted_on_the_given_scale():
    far = relaxed_agreement(["low", "low"], ["high", "mid"], categories=["low", "mid", "high"])

    assert (far.count, far.n) == (1, 2)


def test_a_label_outside_the_scale_is_refused():
    with pytest.raises(InputError, match="`categories` must hold every label"):
        relaxed_agreement(["low"], ["huge"], categories=["low", "high"])


def test_distances_tolerate_rounding():
    assert relaxed_agreement([0.4], [0.3], within=0.1).count == 1


@pytest.mark.parametrize("within", [-1, float("nan"), float("inf")])
def test_an_invalid_distance_is_refused(within):
    with pytest.raises(InputError, match="`within` must be a distance of 0 or more"):
        relaxed_agreement([1], [1], within=within)


@pytest.mark.parametrize("agreement", [exact_agreement, relaxed_agreement])
def test_agreement_without_pairs_is_undefined(agreement):
    result = agreement([1, None], [None, 2])

    assert isinstance(result, Undefined)
    assert result.reason == "No dialogue has a label from both annotators."


def test_forty_of_forty_has_an_interval_of_positive_width():
    agreement = exact_agreement(["yes"] * 40, ["yes"] * 40)

    assert agreement.value == 1.0
    assert agreement.low == pytest.approx(0.912, abs=1e-3)


def test_all_annotators_of_a_unit_must_agree():
    agreed = unanimity([["a", "a", "a"], ["a", "a", "b"], ["a", "b", None]])

    assert (agreed.count, agreed.n) == (1, 3)


def test_units_with_a_single_label_are_excluded():
    agreed = unanimity([["a", "a", None], ["a", None, None]])

    assert (agreed.count, agreed.n) == (1, 1)


def test_unanimity_of_two_is_exact_agreement():
    a, b = ["a", "b", "b", "a"], ["a", "b", "a", "a"]

    assert unanimity([a, b]).value == exact_agreement(a, b).value
    assert unanimity([a, b]).low == exact_agreement(a, b).low


def test_chance_agreement_falls_with_the_number_of_annotators():
    two, three = (unanimity([["a", "b"]] * n) for n in (2, 3))

    assert (two.chance, three.chance) == (0.5, 0.25)


def test_without_a_shared_unit_unanimity_is_undefined():
    assert isinstance(unanimity([["a", None], [None, "b"]]), Undefined)
    assert isinstance(unanimity([]), Undefined)


def test_the_number_of_clusters_is_stated():
    assert unanimity([["a", "b", "a"], ["a", "a", "a"]], clusters=["x", "x", "y"]).n_clusters == 2


def test_ties_and_single_labels_have_no_majority():
    assert majority_labels([["a", "a", "a"], ["a", "b", None], ["b", None, None]]) == ["a", None, None]


def test_numbers_are_labels_too():
    assert majority_labels([[4, 1], [4.0, float("nan")]]) == ["4", None]


@pytest.mark.parametrize("measure", [unanimity, majority_labels])
def test_rows_must_have_equal_length(measure):
    with pytest.raises(InputError, match="rows of equal length"):
        measure([["a"], ["a", "b"]])


def test_a_label_has_precision_recall_and_f1_with_counts():
    report = classification_report(["a"] * 3 + ["b"] * 7, ["a", "a", "b"] + ["a"] + ["b"] * 6, categories=["a", "b"])

    first = report.classes[0]
    assert (first.precision.count, first.precision.n) == (2, 3)
    assert (first.recall.count, first.recall.n) == (2, 3)
    assert (first.reference_count, first.given_count, report.n) == (3, 3, 10)
    assert first.f1.value == pytest.approx(2 / 3)


def test_the_interval_of_f1_is_that_of_the_shared_units():
    report = classification_report(["a"] * 3 + ["b"] * 7, ["a", "a", "b"] + ["a"] + ["b"] * 6, categories=["a", "b"])

    shared = defect_rate(2, 4)

    assert report.classes[0].f1.low == pytest.approx(2 * shared.low / (1 + shared.low))
    assert report.classes[0].f1.high == pytest.approx(2 * shared.high / (1 + shared.high))


def test_an_unused_label_is_undefined_and_excluded_from_the_macro_average():
    report = classification_report(["a", "b"], ["a", "b"], categories=["a", "b", "c"])

    unused = report.classes[2]
    assert isinstance(unused.f1, Undefined)
    assert unused.f1.reason == "Nobody gave a dialogue the label `c`."
    assert report.macro_f1.value == 1.0


def test_a_label_used_by_the_reference_only_has_recall_zero():
    report = classification_report(["a", "b", "b"], ["a", "a", "a"], categories=["a", "b"])

    missed = report.classes[1]
    assert isinstance(missed.precision, Undefined)
    assert (missed.recall.value, missed.f1.value) == (0.0, 0.0)
    assert report.macro_f1.value == pytest.approx(0.25)


def test_perfect_labels_have_an_interval_of_positive_width():
    macro = classification_report(["a", "b"] * 10, ["a", "b"] * 10, categories=["a", "b"]).macro_f1

    assert (macro.value, macro.high) == (1.0, 1.0)
    assert 0.7 < macro.low < 0.95


def test_units_without_one_of_the_labels_are_excluded():
    report = classification_report(["a", None, "b", "b"], ["a", "a", None, "b"], categories=["a", "b"])

    assert report.n == 2
    assert report.macro_f1.n == 2


def test_without_pairs_nothing_is_defined():
    report = classification_report([None], ["a"], categories=["a", "b"])

    assert isinstance(report.macro_f1, Undefined)
    assert report.macro_f1.reason == "No dialogue has a label from both annotators."


def test_clusters_widen_the_interval():
    true, given = ["a"] * 20 + ["b"] * 20, ["a"] * 15 + ["b"] * 25
    clusters = [number // 5 for number in range(40)]

    alone = classification_report(true, given, categories=["a", "b"]).macro_f1
    together = classification_report(true, given, categories=["a", "b"], clusters=clusters).macro_f1

    assert together.value == alone.value
    assert together.n_clusters == 8
    assert together.high - together.low > alone.high - alone.low


def test_labels_must_be_on_the_scale():
    with pytest.raises(InputError, match="Give the full scale"):
        classification_report(["a"], ["x"], categories=["a", "b"])
