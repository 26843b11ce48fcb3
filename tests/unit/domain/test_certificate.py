"""Certificates of programs that knew flat subjects only are read with typed ones."""

from __future__ import annotations

import gzip
from pathlib import Path

from theodolite.domain.certificate import Certificate
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure, Weighting
from theodolite.domain.identity import canonical_json
from theodolite.store.contents import record_from

FORMER = Path(__file__).parents[2] / "golden" / "results_1_19" / "stored_certificate.json.gz"


def former() -> str:
    return gzip.decompress(FORMER.read_bytes()).decode()


def test_a_former_certificate_is_read_whole():
    certificate = record_from(Certificate, Certificate.in_present_shape(former()))

    exact = certificate.figure(Measure.EXACT_AGREEMENT, authority="anna")
    alpha = certificate.figure(Measure.KRIPPENDORFF_ALPHA, authority="ben")
    assert certificate.authorities == ("anna", "ben")
    assert (exact.application, exact.subject.annotators) == (ALL_APPLICATIONS, ("anna", "grounded"))
    assert alpha.weighting is Weighting.ORDINAL
    assert certificate.figure(Measure.JUDGE_SENSITIVITY, authority="anna", rule="defect").result.n > 0


def test_a_present_certificate_is_read_as_it_is():
    present = Certificate.in_present_shape(former())

    assert Certificate.in_present_shape(present) == present
    assert canonical_json(record_from(Certificate, present)).count('"about"') == 0
