"""Precision, recall, F1, unanimity and majorities against published counts, published examples and scikit-learn."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from tests.golden.test_human_labels import rows
from theodolite.measurement.agreement import classification_report, exact_agreement, majority_labels, unanimity

PEOPLE = ("annotator1", "annotator2", "annotator3")


def pandalm(*columns):
    return [[row[column] or None for row in rows("pandalm_labels")] for column in columns]


def test_the_example_of_scikit_learns_manual():
    """Its `classification_report` prints .67, .00 and .80, and a macro average of .49."""
    report = classification_report([0, 1, 2, 2, 2], [0, 0, 2, 2, 1], categories=[0, 1, 2])

    assert [round(one.f1.value, 2) for one in report.classes] == [0.67, 0.0, 0.8]
    assert [one.reference_count for one in report.classes] == [1, 1, 3]
    assert round(report.macro_f1.value, 2) == 0.49


@pytest.mark.parametrize("judge", ["judge", "judge_7b"])
def test_figures_of_pandalms_judges_equal_those_of_scikit_learn(judge):
    """Labels that cannot be read are left out on both sides: 25 of GPT-3.5 and none of PandaLM-7B."""
    (given,), majority = pandalm(judge), majority_labels(pandalm(*PEOPLE))
    met = [(true, label) for true, label in zip(majority, given, strict=True) if label is not None]

    report = classification_report(majority, given, categories=["0", "1", "2"])

    precision, recall, f1, _ = precision_recall_fscore_support(*zip(*met, strict=True), labels=["0", "1", "2"])
    assert [one.precision.value for one in report.classes] == pytest.approx(precision.tolist(), abs=1e-12)
    assert [one.recall.value for one in report.classes] == pytest.approx(recall.tolist(), abs=1e-12)
    assert [one.f1.value for one in report.classes] == pytest.approx(f1.tolist(), abs=1e-12)
    assert report.macro_f1.value == pytest.approx(f1.mean(), abs=1e-12)
    assert report.n == len(met)


def test_the_majorities_of_pandalms_people_are_the_published_ones():
    assert Counter(majority_labels(pandalm(*PEOPLE))) == {"0": 105, "1": 422, "2": 472}


def test_unanimity_of_pandalms_people_follows_from_the_rows():
    columns = pandalm(*PEOPLE)

    agreed = unanimity(columns)

    assert (agreed.count, agreed.n) == (sum(x == y == z for x, y, z in zip(*columns, strict=True)), 999)
    assert agreed.count == 879


@pytest.mark.parametrize(("name", "ties"), [("350", 2), ("990", 8)])
def test_majorities_of_dices_are_the_published_ones(name, ties):
    """The file breaks ties by the order of raters; here a tie has no majority."""
    units = [row for row in rows("dices_labels") if row["set"] == name]
    most = max(len(row["labels"]) for row in units)
    ratings = [[row["labels"][k] if k < len(row["labels"]) else None for row in units] for k in range(most)]

    majority = majority_labels(ratings)

    assert majority.count(None) == ties
    assert all(label in {None, row["majority"]} for label, row in zip(majority, units, strict=True))


def test_the_majority_of_a_crowd_misses_dialogues_that_an_expert_of_dices_calls_unsafe():
    """Counted in the published rows: the crowd finds 67 of the expert's 175, and agrees on 229 of 350."""
    units = [row for row in rows("dices_labels") if row["set"] == "350"]
    expert, crowd = [row["expert"] for row in units], [row["majority"] for row in units]

    unsafe = classification_report(expert, crowd, categories=["Y", "N"]).classes[0]

    assert (unsafe.recall.count, unsafe.recall.n, unsafe.given_count) == (67, 175, 80)
    assert (exact_agreement(expert, crowd).count, exact_agreement(expert, crowd).n) == (229, 350)


def macro_f1_of(cells):
    right, sizes = np.diag(cells), cells.sum(axis=0) + cells.sum(axis=1)
    return float(np.mean(2 * right / sizes))


def delta_error(cells):
    """Return the standard error of macro-F1 by the delta method, its derivatives by differences."""
    n = cells.sum()
    shares, step = cells / n, 1e-6
    slope = np.zeros_like(shares)
    for cell in product(range(len(cells)), repeat=2):
        up, down = shares.copy(), shares.copy()
        up[cell] += step
        down[cell] -= step
        slope[cell] = (macro_f1_of(up) - macro_f1_of(down)) / (2 * step)
    spread = float((shares * slope**2).sum() - (shares * slope).sum() ** 2)
    return math.sqrt(spread / n)


def test_with_many_units_the_interval_of_macro_f1_equals_the_delta_method():
    """Takahashi et al. (2022) give this standard error; with 20,000 units both intervals come together."""
    cells = np.array([[7000, 500, 300], [900, 5000, 600], [200, 800, 4700]])
    pairs = [pair for pair in product(range(3), repeat=2) for _ in range(int(cells[pair]))]

    macro = classification_report(*zip(*pairs, strict=True), categories=[0, 1, 2]).macro_f1

    assert macro.value == pytest.approx(macro_f1_of(cells), abs=1e-12)
    assert (macro.high - macro.low) / 2 == pytest.approx(1.959964 * delta_error(cells), rel=0.02)


def test_more_units_of_the_same_kind_narrow_every_interval():
    cells = {(0, 0): 12, (0, 1): 3, (1, 0): 2, (1, 1): 9}
    widths = []
    for times in (1, 4, 16):
        pairs = [pair for pair, count in cells.items() for _ in range(count * times)]
        macro = classification_report(*zip(*pairs, strict=True), categories=[0, 1]).macro_f1
        widths.append(macro.high - macro.low)

    assert all(wide > narrow for wide, narrow in pairwise(widths))
