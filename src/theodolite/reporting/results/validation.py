"""Validation reports of judges as entries of the results file."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.validation_report import ValidationReport
from theodolite.reporting.results.estimates import confusion_entry, estimate_entry


def validation_report_entry(report: ValidationReport) -> dict[str, Json]:
    """Return one entry of the list `judge_validations`."""
    return {
        "judge": report.judge,
        "version": report.judge_version,
        "guideline": report.guideline,
        "guideline_version": report.guideline_version,
        "issued": report.issued.isoformat(),
        "run": report.run,
        "judged": report.judged,
        "labelled": report.labelled,
        "authorities": list(report.authorities),
        "estimates": [estimate_entry(measurement) for measurement in report.measurements],
        "confusions": [confusion_entry(confusion) for confusion in report.confusions],
        "limitations": list(report.lacking),
    }
