"""Text of estimates, the same in terminal and report."""

from __future__ import annotations

from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure, Weighting
from theodolite.domain.validation_report import ValidationReport
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


_COEFFICIENTS = {
    Measure.COHEN_KAPPA: "kappa",
    Measure.FLEISS_KAPPA: "Fleiss' kappa",
    Measure.GWET_AC: "AC",
    Measure.KRIPPENDORFF_ALPHA: "alpha",
}

_WEIGHTINGS = {
    Weighting.IDENTITY: "unweighted",
    Weighting.LINEAR: "linear weights",
    Weighting.QUADRATIC: "quadratic weights",
    Weighting.ORDINAL: "ordinal weights",
    Weighting.BAND: "neighbours count as agreeing",
}


def weighting_text(measurement: Measurement) -> str:
    """Return how a coefficient weighs disagreement, e.g. `unweighted`, `quadratic weights`, `ordinal`."""
    weighting = measurement.weighting
    if weighting is None:
        return ""
    is_alpha = measurement.measure in {Measure.KRIPPENDORFF_ALPHA, Measure.RETEST_ALPHA}
    return weighting.value if is_alpha else _WEIGHTINGS[weighting]


def coefficient_name(measurement: Measurement) -> str:
    """Return the short name of a coefficient with its weighting, e.g. `AC2 (quadratic weights)`."""
    name = _COEFFICIENTS.get(measurement.measure, measurement.measure.value)
    if measurement.measure is Measure.GWET_AC:
        name += "1" if measurement.weighting is Weighting.IDENTITY else "2"
    weighting = weighting_text(measurement)
    return f"{name} ({weighting})" if weighting else name


def unreadable_text(measurement: Measurement) -> str:
    """Return how many unreadable labels an agreement leaves out, and what it is if they count as disagreement."""
    outcomes = measurement.outcomes
    unreadable = outcomes.unparseable + outcomes.refused
    if not unreadable:
        return ""
    result, told = measurement.result, f"{figures.count(unreadable)} unreadable left out"
    if measurement.bounds is None or isinstance(result, Undefined) or result.count is None:
        return told
    return f"{told} (with them as disagreement {figures.share(result.count, result.n + unreadable)})"


def points_text(result: Estimate | Undefined) -> str:
    """Return a signed difference in points with its interval, e.g. `-4.2 points (-6.0 to -2.4)`."""
    if isinstance(result, Undefined):
        return f"unknown: {result.reason}"
    ends = ""
    if result.low is not None and result.high is not None:
        ends = f" ({100 * result.low:+.1f} to {100 * result.high:+.1f})"
    return f"{100 * result.value:+.1f} points{ends}, n {figures.count(result.n)}"


def rules_of_report(report: ValidationReport) -> tuple[str, ...]:
    """Return the names of the defect rules of a validation report, in its order."""
    return tuple(dict.fromkeys(one.subject.rule for one in report.measurements if one.subject.rule))


def is_beside_judge(report: ValidationReport, one: Measurement) -> bool:
    """Tell whether a figure compares the judge with another judge, on all dialogues of both."""
    subject = one.subject
    is_whole = one.application == ALL_APPLICATIONS and not subject.is_part and not subject.is_human_ceiling
    is_pair = bool(subject.authority) and subject.authority not in report.authorities
    return is_whole and is_pair and not subject.rule


MOST_APART = 5
"""People that a judge is shown beside one by one; of more the range is told. Count."""
