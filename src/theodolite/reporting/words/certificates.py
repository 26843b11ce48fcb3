"""Words for a certificate's figures, the same in terminal and report."""

from __future__ import annotations

from theodolite.domain.certificate import Certificate
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting.words import figures


def amount_text(result: Estimate | Undefined) -> str:
    """Return a share with its count and interval, e.g. `347 of 450 (77.1 %, 73.0 to 80.8)`."""
    if isinstance(result, Undefined):
        return f"unknown: {result.reason}"
    ends = ""
    if result.low is not None and result.high is not None:
        ends = f", {figures.span(result.low, result.high)}"
    if result.count is None:
        return f"{figures.percent(result.value)} (from {figures.count(result.n)} labels{ends})"
    if result.n < figures.FEW:
        return f"{figures.count(result.count)} of {figures.count(result.n)}"
    return f"{figures.count(result.count)} of {figures.count(result.n)} ({figures.percent(result.value)}{ends})"


def share_text(result: Estimate | Undefined) -> str:
    """Return a share that no count stands behind with its interval, e.g. `61.3 % (58.0 to 64.5)`."""
    if isinstance(result, Undefined):
        return f"unknown: {result.reason}"
    ends = "" if result.low is None or result.high is None else f" ({figures.span(result.low, result.high)})"
    return f"{figures.percent(result.value)}{ends}"


def coefficient_text(result: Estimate | Undefined) -> str:
    """Return a coefficient with its interval, e.g. `.63 (.60 to .66)`."""
    if isinstance(result, Undefined):
        return "unknown"
    if result.low is None or result.high is None:
        return figures.coefficient(result.value)
    return (
        f"{figures.coefficient(result.value)} ({figures.coefficient(result.low)} to {figures.coefficient(result.high)})"
    )


def points_text(result: Estimate | Undefined) -> str:
    """Return a signed difference in points with its interval, e.g. `-4.2 points (-6.0 to -2.4)`."""
    if isinstance(result, Undefined):
        return f"unknown: {result.reason}"
    ends = ""
    if result.low is not None and result.high is not None:
        ends = f" ({100 * result.low:+.1f} to {100 * result.high:+.1f})"
    return f"{100 * result.value:+.1f} points{ends}, n {figures.count(result.n)}"


def rules_of_certificate(certificate: Certificate) -> tuple[str, ...]:
    """Return the names of the defect rules that a certificate looks at, in its order."""
    return tuple(dict.fromkeys(one.about["rule"] for one in certificate.measurements if "rule" in one.about))


MOST_APART = 5
"""People that a judge is shown beside one by one; of more the range is told. Count."""
