"""Certificates of judges: issued, kept with the judge's version, and read again."""

from __future__ import annotations

from theodolite.bootstrap.workbench import Workbench
from theodolite.domain.annotator import Annotator
from theodolite.domain.certificate import Certificate
from theodolite.domain.evidence import Evidence
from theodolite.usecases.certifying import certificate_of


def issue_certificate(bench: Workbench, evidence: Evidence, judge: Annotator) -> Certificate:
    """Issue the certificate of a judge and file it under the judge's version.

    Raises:
        InputError: If nobody has labelled what the judge has labelled.
    """
    certificate = certificate_of(evidence, judge, bench.clock.now())
    bench.store.file(certificate.judge_version, certificate)
    return certificate
