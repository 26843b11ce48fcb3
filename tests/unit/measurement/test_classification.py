from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import classification_report, defect_rate


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


def test_a_label_that_nobody_uses_is_undefined_and_not_in_the_macro_average():
    report = classification_report(["a", "b"], ["a", "b"], categories=["a", "b", "c"])

    unused = report.classes[2]
    assert isinstance(unused.f1, Undefined)
    assert unused.f1.reason == "Nobody gave a dialogue the label `c`."
    assert report.macro_f1.value == 1.0


def test_a_label_that_the_reference_alone_uses_is_missed_everywhere():
    report = classification_report(["a", "b", "b"], ["a", "a", "a"], categories=["a", "b"])

    missed = report.classes[1]
    assert isinstance(missed.precision, Undefined)
    assert (missed.recall.value, missed.f1.value) == (0.0, 0.0)
    assert report.macro_f1.value == pytest.approx(0.25)


def test_perfect_labels_leave_room_for_doubt():
    macro = classification_report(["a", "b"] * 10, ["a", "b"] * 10, categories=["a", "b"]).macro_f1

    assert (macro.value, macro.high) == (1.0, 1.0)
    assert 0.7 < macro.low < 0.95


def test_units_without_one_of_the_labels_are_left_out():
    report = classification_report(["a", None, "b", "b"], ["a", "a", None, "b"], categories=["a", "b"])

    assert report.n == 2
    assert report.macro_f1.n == 2


def test_without_a_pair_nothing_is_defined():
    report = classification_report([None], ["a"], categories=["a", "b"])

    assert isinstance(report.macro_f1, Undefined)
    assert report.macro_f1.reason == "No dialogue has a label of both annotators."


def test_clusters_widen_what_is_known():
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
