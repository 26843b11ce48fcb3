"""Models of raters against the published table."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest

from tests.golden.published import HERE, units_of
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.rater_models import cross_agreement, dawid_skene, group_agreement

PUBLISHED = json.loads((HERE / "dawid_skene.json").read_text(encoding="utf-8"))


def given():
    return [
        (patient, rater, int(label))
        for patient, row in enumerate(PUBLISHED["patients"])
        for rater, labels in enumerate(row.split(), 1)
        for label in labels
    ]


def test_the_anaesthetists_have_the_published_estimates_of_dawid_and_skene():
    model = dawid_skene(given(), categories=[1, 2, 3, 4])

    assert model.prevalence == pytest.approx(PUBLISHED["prevalence"], abs=5.1e-3)
    assert model.log_likelihood == pytest.approx(PUBLISHED["log_likelihood"], abs=5.1e-4)
    assert model.errors[0] == pytest.approx(np.array(PUBLISHED["first"]), abs=1e-2)


@pytest.mark.parametrize("table", [[[20, 5], [10, 15]], [[40, 9], [6, 45]], [[80, 10], [5, 5]]], ids=str)
def test_agreement_across_groups_of_one_is_cohens_kappa(table):
    a, b = units_of(table)

    across = cross_agreement([a], [b], categories=[0, 1])

    assert across.value == pytest.approx(cohen_kappa(a, b, categories=[0, 1]).value, abs=1e-12)


def test_halves_of_the_raters_of_dices_have_no_separate_view():
    """The 123 columns are the same raters throughout; nothing tells odd ones from even ones."""
    with gzip.open(HERE / "dices_labels.csv.gz", "rt", encoding="utf-8", newline="") as file:
        units = [row["labels"] for row in csv.DictReader(file) if row["set"] == "350"]
    ratings = np.array([["NUY".index(letter) for letter in unit] for unit in units]).T

    halves = group_agreement(ratings, ["odd", "even"] * 61 + ["odd"], categories=[0, 1, 2], draws=99)

    for half in halves:
        assert half.within.value == pytest.approx(0.161, abs=0.02)
        assert half.ratio == pytest.approx(1.0, abs=0.1)
        assert half.p_value > 0.05
