"""Materialised risks, as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.risks import MaterialisedRisk, RiskContrast, RiskFinding, RiskPart
from theodolite.domain.identity import Json
from theodolite.reporting.results.responses import comparison_fields

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
        "undecided": finding.n_undecided,
        "groups": [_part(part) for part in finding.parts],
        "contrasts": [_contrast(contrast) for contrast in finding.contrasts],
    }


def _part(part: RiskPart) -> dict[str, Json]:
    return {
        "group": part.group,
        "part": part.part,
        "n": part.n,
        "testers": part.n_people,
        "undecided": part.n_undecided,
        "materialised": part.count,
        "withheld": part.count is None,
    }


def _contrast(contrast: RiskContrast) -> dict[str, Json]:
    return {
        "group": contrast.group,
        "first": contrast.first,
        "second": contrast.second,
        **comparison_fields(contrast.test),
        "adjusted_p_value": contrast.adjusted_p_value,
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
