"""Text of estimates, the same in terminal and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, Measure, Weighting
from theodolite.domain.findings.number import PluginMeasurement
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.words import figures


def rate_text(result: Estimate | Undefined, bound: float | None = None) -> str:
    """Return a share with its count and interval, e.g. `347 of 450 (77.1%, 73.0 to 80.8)`.

    Args:
        result: The share.
        bound: One-sided bound of the true share if the count is zero; fraction.
    """
    if isinstance(result, Undefined):
        return undefined_text(result)
    ends = _share_ends(result, bound)
    if result.count is None:
        return f"{figures.percent(result.value)} (from {figures.count(result.n)} labels{f', {ends}' if ends else ''})"
    if result.n < figures.FEW:
        return f"{figures.count(result.count)} of {figures.count(result.n)}"
    percent = figures.percent(result.value) + (f", {ends}" if ends else "")
    return f"{figures.count(result.count)} of {figures.count(result.n)} ({percent})"


def share_text(result: Estimate | Undefined) -> str:
    """Return a share without a count and its interval, e.g. `61.3% (58.0 to 64.5)`."""
    if isinstance(result, Undefined):
        return undefined_text(result)
    ends = _share_ends(result)
    return figures.percent(result.value) + (f" ({ends})" if ends else "")


def coefficient_text(result: Estimate | Undefined) -> str:
    """Return a coefficient with its interval, e.g. `.63 (.60 to .66)`."""
    if isinstance(result, Undefined):
        return undefined_text(result)
    ends = _ends(result, figures.coefficient)
    return figures.coefficient(result.value) + (f" ({ends})" if ends else "")


def difference_text(result: Estimate | Undefined) -> str:
    """Return a signed difference in points with its interval, e.g. `-4.2 points (-6.0 to -2.4), n 450`."""
    if isinstance(result, Undefined):
        return undefined_text(result)
    ends = _ends(result, lambda value: f"{100 * value:+.1f}")
    return f"{100 * result.value:+.1f} points{f' ({ends})' if ends else ''}, n {figures.count(result.n)}"


def _share_ends(result: Estimate, bound: float | None = None) -> str:
    """Return the interval of a share; for a count of zero only its upper end or one-sided bound."""
    if result.value == 0 and result.high is not None:
        return f"at most {figures.points(result.high if bound is None else bound)}"
    return _ends(result, figures.points)


def _ends(result: Estimate, shown: Callable[[float], str]) -> str:
    if result.low is None or result.high is None:
        return ""
    return f"{shown(result.low)} to {shown(result.high)}"


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


def plugin_measure_texts(findings: Findings) -> Iterator[str]:
    """Yield each measure of a plugin with its value, interval and count in one line."""
    for found in findings.plugin_measures:
        name = f"{found.name} of {found.application} by {found.annotator}"
        yield f"{name}: {plugin_value_text(found)}"


def plugin_value_text(found: PluginMeasurement) -> str:
    """Return the value of a plugin's measure with its interval and its counts."""
    result, outcomes = found.result, found.outcomes
    if isinstance(result, Undefined):
        return undefined_text(result)
    ends = "no interval" if result.low is None or result.high is None else f"{result.low:.4g} to {result.high:.4g}"
    without = f", {figures.count(outcomes.unmeasured)} without a label" if outcomes.unmeasured else ""
    return f"{result.value:.4g} ({ends}), n {figures.count(result.n)}{without}"


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
    """Return the number of unreadable labels excluded from an agreement, and its value with them as disagreement."""
    outcomes = measurement.outcomes
    unreadable = outcomes.unparseable + outcomes.refused
    if not unreadable:
        return ""
    result, excluded = measurement.result, f"{figures.count(unreadable)} unreadable left out"
    if measurement.bounds is None or isinstance(result, Undefined) or result.count is None:
        return excluded
    return f"{excluded} (with them as disagreement {figures.share(result.count, result.n + unreadable)})"


def rules_of_report(report: ValidationReport) -> tuple[str, ...]:
    """Return the names of the defect rules of a validation report, in its order."""
    return tuple(dict.fromkeys(entry.subject.rule for entry in report.measurements if entry.subject.rule))


def compares_judges(report: ValidationReport, measurement: Measurement) -> bool:
    """Return whether a figure compares the judge with another judge, on all dialogues of both."""
    subject = measurement.subject
    is_whole = measurement.application == ALL_APPLICATIONS and not subject.is_part and not subject.is_human_ceiling
    is_pair = bool(subject.authority) and subject.authority not in report.authorities
    return is_whole and is_pair and not subject.rule


MOST_APART = 5
"""Maximum number of people with whom a judge is compared one by one; for more, the range is shown. Count."""
