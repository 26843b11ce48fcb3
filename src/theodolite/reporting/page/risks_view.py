"""Risks that became real, as the page shows them: counts of what was looked at, never rates."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.risk import Identification, RiskFinding
from theodolite.reporting import figures
from theodolite.reporting.page.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRow:
    """One risk with one application at one level.

    Attributes:
        risk: Name of the risk, with its description where it has one.
        where: Application and level.
        found: Where it became real, of what was looked at.
        disputed: Records that an annotator speaks against; in words, empty for none.
        open: What somebody still has to review, likewise.
    """

    risk: str
    where: str
    found: str
    disputed: str = ""
    open: str = ""


def risk_rows(subject: Subject) -> tuple[RiskRow, ...]:
    """Return one row for each risk, application and level that something could show."""
    return tuple(_row(finding) for finding in subject.findings.risks)


def _row(finding: RiskFinding) -> RiskRow:
    risk, records = finding.risk, finding.materialised
    unit = "dialogue" if risk.identified_by is Identification.DIALOGUE else "session with a response"
    units = {record.dialogue or record.session for record in records}
    n = figures.number_of(finding.n, unit, "dialogues" if unit == "dialogue" else "sessions with a response")
    disputed = sum(bool(record.against) for record in records)
    pending = figures.number_of(len(finding.pending), "session")
    dismissed = f"; {figures.count(finding.n_dismissed)} reviewed and not" if finding.n_dismissed else ""
    return RiskRow(
        risk=f"{risk.name}: {risk.description}" if risk.description else risk.name,
        where=f"{finding.application}, {finding.level.value}",
        found=f"in {figures.count(len(units))} of {n}, by {risk.identified_by.value}{dismissed}",
        disputed=f"{figures.number_of(disputed, 'record')} not seen so by every annotator" if disputed else "",
        open=f"{pending} still to be reviewed" if finding.pending else "",
    )
