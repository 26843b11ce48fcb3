"""Certificates of judges as entries of the results file."""

from __future__ import annotations

from theodolite.domain.certificate import Certificate
from theodolite.domain.identity import Json
from theodolite.reporting.results.estimates import confusion_entry, estimate_entry


def certificate_entry(certificate: Certificate) -> dict[str, Json]:
    """Return one entry of the list `certificates`."""
    return {
        "judge": certificate.judge,
        "version": certificate.judge_version,
        "guideline": certificate.guideline,
        "guideline_version": certificate.guideline_version,
        "issued": certificate.issued.isoformat(),
        "run": certificate.run,
        "judged": certificate.judged,
        "labelled": certificate.labelled,
        "authorities": list(certificate.authorities),
        "estimates": [estimate_entry(measurement) for measurement in certificate.measurements],
        "confusions": [confusion_entry(confusion) for confusion in certificate.confusions],
        "limitations": list(certificate.lacking),
    }
