from __future__ import annotations

import pytest

from tests.unit.measurement.study.small_study import NUMBERS, SmallStudy, polite
from theodolite.measurement import measure_study


def measured(*names, guideline):
    study = SmallStudy(guideline=guideline)
    for name in names:
        study.annotator(name)
    for number, label in enumerate("abcde", start=1):
        study.session(label)
        for shift, name in enumerate(names):
            study.column(name, **{label: str(min(5, number + shift))})
    return [one for one in measure_study(study.evidence()).measurements if one.measure == "score_agreement"]


def test_numbers_are_compared_by_distance_bias_and_order():
    found = {
        one.statistic: one.result.value for one in measured("ann", "ben", guideline=polite(scale=NUMBERS, value="1"))
    }

    assert set(found) == {"rmse", "bias", "pearson", "spearman", "kendall"}
    assert found["bias"] == pytest.approx(0.8)


def test_labels_without_distances_are_not_compared_so():
    assert measured("ann", "ben", guideline=polite()) == []
