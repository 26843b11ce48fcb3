"""Certificates of programs that knew flat subjects only are read with typed ones."""

from __future__ import annotations

import gzip
from pathlib import Path

from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure, Weighting
from theodolite.domain.identity import canonical_json
from theodolite.domain.validation_report import ValidationReport
from theodolite.store.contents import record_from

FORMER = Path(__file__).parents[2] / "golden" / "results_1_19" / "stored_certificate.json.gz"


def former() -> str:
    return gzip.decompress(FORMER.read_bytes()).decode()


def test_a_former_certificate_is_read_whole():
    validation_report = record_from(ValidationReport, ValidationReport.in_present_shape(former()))

    exact = validation_report.figure(Measure.EXACT_AGREEMENT, authority="anna")
    alpha = validation_report.figure(Measure.KRIPPENDORFF_ALPHA, authority="ben")
    assert validation_report.authorities == ("anna", "ben")
    assert (exact.application, exact.subject.annotators) == (ALL_APPLICATIONS, ("anna", "grounded"))
    assert alpha.weighting is Weighting.ORDINAL
    assert validation_report.figure(Measure.JUDGE_SENSITIVITY, authority="anna", rule="defect").result.n > 0


def test_a_present_certificate_is_read_as_it_is():
    present = ValidationReport.in_present_shape(former())

    assert ValidationReport.in_present_shape(present) == present
    assert canonical_json(record_from(ValidationReport, present)).count('"about"') == 0
