"""Words about risks that became real; the same in the report and on the server's pages."""

from __future__ import annotations

from theodolite.domain.choices import Identification
from theodolite.domain.findings.risks import RiskFinding
from theodolite.reporting.words import figures


def found_words(finding: RiskFinding) -> str:
    """Return in how many of the dialogues or sessions that somebody has looked at a risk became real."""
    units = {record.dialogue or record.session for record in finding.materialised}
    n_seen = finding.n - finding.n_unseen
    if not n_seen:
        return f"nobody has looked at {_number(finding, finding.n)} yet"
    dismissed = f"; {figures.count(finding.n_dismissed)} reviewed and not" if finding.n_dismissed else ""
    return f"in {figures.count(len(units))} of {_number(finding, n_seen)}{dismissed}"


def open_words(finding: RiskFinding) -> str:
    """Return what somebody still has to say; empty for nothing."""
    parts = []
    if finding.pending:
        parts.append(f"{figures.number_of(len(finding.pending), 'session')} still to be reviewed")
    if finding.n_unseen and finding.n_unseen < finding.n:
        parts.append(f"{figures.count(finding.n_unseen)} more that nobody has looked at")
    return ", ".join(parts)


def _number(finding: RiskFinding, n: int) -> str:
    if finding.risk.identified_by is Identification.DIALOGUE:
        return figures.number_of(n, "dialogue")
    return figures.number_of(n, "session with a response", "sessions with a response")
