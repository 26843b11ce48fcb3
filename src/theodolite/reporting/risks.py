"""Risks that became real, as entries of the results file."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.risk import MaterialisedRisk, RiskFinding

SESSION_DIGITS = 16
"""Digits of a session's key that are written."""


def risk_entry(finding: RiskFinding) -> dict[str, Json]:
    """Return one entry of the list `risks`."""
    return {
        "risk": finding.risk.name,
        "taxonomy": finding.risk.taxonomy,
        "identified_by": finding.risk.identified_by.value,
        "application": finding.application,
        "level": finding.level.value,
        "n": finding.n,
        "materialised": [_record(record) for record in finding.materialised],
        "pending": [session[:SESSION_DIGITS] for session in finding.pending],
        "dismissed": finding.n_dismissed,
    }


def _record(record: MaterialisedRisk) -> dict[str, Json]:
    return {
        "dialogue": record.dialogue or None,
        "session": record.session[:SESSION_DIGITS] or None,
        "shown_by": record.shown_by,
        "by": list(record.by),
        "against": list(record.against),
        "magnitude": record.magnitude,
        "impact": record.impact.value,
    }
