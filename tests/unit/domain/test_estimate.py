from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import ConfusionMatrix, Estimate, Outcomes, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure, Weighting
from theodolite.domain.identity import canonical_json
from theodolite.domain.record_reading import record_from

PARTS = {"value": 0.5, "low": 0.1, "high": 0.9, "confidence": 0.95, "n": 4, "unit": "fraction", "method": "wilson"}


@pytest.mark.parametrize("name", ["value", "low", "high", "confidence", "chance"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_an_estimate_holds_finite_numbers_only(name, number):
    with pytest.raises(InputError, match="finite"):
        Estimate(**{**PARTS, name: number})


def test_the_counts_of_a_disposition_add_up():
    account = Outcomes(planned=10, used=4, missing=1, failed=1, refused=1, unparseable=1, not_applicable=2)

    assert account.unmeasured == 4


@pytest.mark.parametrize("parts", [{"used": 9}, {"used": 11, "missing": -1}, {"used": 10, "failed": 1}])
def test_a_disposition_that_does_not_add_up_is_refused(parts):
    with pytest.raises(InputError, match="sum of the other counts"):
        Outcomes(planned=10, **parts)


def test_a_confusion_matrix_counts_its_units():
    assert ConfusionMatrix(categories=("a", "b"), counts=((1, 2), (0, 3))).n == 6


FORMER = Path(__file__).parents[2] / "golden" / "results_1_19" / "stored_certificate.json.gz"


def former() -> str:
    return gzip.decompress(FORMER.read_bytes()).decode()


def test_an_earlier_validation_report_is_read_completely():
    validation_report = record_from(ValidationReport, ValidationReport.in_present_shape(former()))

    exact = validation_report.figure(Measure.EXACT_AGREEMENT, authority="anna")
    alpha = validation_report.figure(Measure.KRIPPENDORFF_ALPHA, authority="ben")
    assert validation_report.authorities == ("anna", "ben")
    assert (exact.application, exact.subject.annotators) == (ALL_APPLICATIONS, ("anna", "grounded"))
    assert alpha.weighting is Weighting.ORDINAL
    assert validation_report.figure(Measure.JUDGE_SENSITIVITY, authority="anna", rule="defect").result.n > 0


def test_a_current_validation_report_is_read_unchanged():
    present = ValidationReport.in_present_shape(former())

    assert ValidationReport.in_present_shape(present) == present
    assert canonical_json(record_from(ValidationReport, present)).count('"about"') == 0
