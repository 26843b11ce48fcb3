"""Models of raters against the published table."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.golden.published import HERE, units_of
from theodolite.measurement import cohen_kappa, cross_agreement, dawid_skene

PUBLISHED = json.loads((HERE / "dawid_skene.json").read_text(encoding="utf-8"))


def given():
    return [
        (patient, rater, int(label))
        for patient, row in enumerate(PUBLISHED["patients"])
        for rater, labels in enumerate(row.split(), 1)
        for label in labels
    ]


def test_the_anaesthetists_are_as_dawid_and_skene_found_them():
    model = dawid_skene(given(), categories=[1, 2, 3, 4])

    assert model.prevalence == pytest.approx(PUBLISHED["prevalence"], abs=5.1e-3)
    assert model.log_likelihood == pytest.approx(PUBLISHED["log_likelihood"], abs=5.1e-4)
    assert model.errors[0] == pytest.approx(np.array(PUBLISHED["first"]), abs=1e-2)


@pytest.mark.parametrize("table", [[[20, 5], [10, 15]], [[40, 9], [6, 45]], [[80, 10], [5, 5]]], ids=str)
def test_agreement_across_groups_of_one_is_cohens_kappa(table):
    a, b = units_of(table)

    across = cross_agreement([a], [b], categories=[0, 1])

    assert across.value == pytest.approx(cohen_kappa(a, b, categories=[0, 1]).value, abs=1e-12)
