"""Text of estimates and comparisons, the same in terminal and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.comparison import Comparison, PairedRate
from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined, ValidationReport
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure, Weighting
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
    for result in findings.plugin_measures:
        name = f"{result.name} of {result.application} by {result.annotator}"
        yield f"{name}: {plugin_value_text(result)}"


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


SURE = 0.05

"""Adjusted p-value below which a difference is called significant; fraction."""


def leading(comparison: Comparison) -> list[PairedRate]:
    """Return the leading rates, for the screen and for a gate.

    They are those by the reference or, without one, all of a rule, except
    the rates of single people of a pool that has its own rate.
    """
    final = {_subject_of(rate) for rate in comparison.rates if rate.ruling.subject.annotator == REFERENCE}
    return [
        rate
        for rate in comparison.rates
        if rate.ruling.subject.annotator == REFERENCE or (_subject_of(rate) not in final and not rate.ruling.is_single)
    ]


def _subject_of(rate: PairedRate) -> EstimateSubject:
    """Return the subject of a rate without its annotators."""
    return replace(rate.ruling.key, annotators=())


def rate_name(rate: PairedRate, comparison: Comparison) -> str:
    """Return the name of a rate: its guideline, and whatever distinguishes it from others."""
    subject, others = (
        rate.ruling.subject,
        [paired_rate.ruling.subject for paired_rate in leading(comparison) if paired_rate is not rate],
    )
    name = subject.guideline
    same = [other for other in others if other.guideline == subject.guideline]
    if any(estimate_subject.rule != subject.rule for estimate_subject in same):
        name += f" {subject.rule}"
    if any(estimate_subject.annotator != subject.annotator for estimate_subject in same):
        name += f", {annotator_title(comparison, subject.annotator)}"
    return ", ".join(words for words in (name, subject.test_setting) if words)


def annotator_title(comparison: Comparison, annotator: str) -> str:
    """Return an annotator's name in reports; for a pool, also its definition of a defect."""
    if annotator == PEOPLE:
        return "defects by at least one person"
    if annotator == REFERENCE:
        return "final labels"
    titles = {**comparison.first.titles, **comparison.second.titles}
    return titles.get(annotator, annotator)


def counts_text(rate: PairedRate) -> str:
    """Return the counts of a rate, e.g. `9 -> 4 defects of 57: fixed 7, regressed 2, unchanged 48`."""
    if rate.changed:
        return f"{rate.n_first} and {rate.n_second} defects of {figures.count(rate.n)}, not compared"
    flips = f"fixed {len(rate.fixed)}, regressed {len(rate.regressed)}, unchanged {rate.n - len(rate.flips)}"
    return f"{rate.n_first} -> {rate.n_second} defects of {figures.count(rate.n)}: {flips}"


def left_out_text(rate: PairedRate) -> str:
    """Return which dialogues are in no pair; empty for none."""
    if not (rate.n_unmeasured or rate.n_unpaired):
        return ""
    planned = rate.n + rate.n_unmeasured
    parts = []
    if rate.n_unmeasured:
        parts.append(f"{figures.count(rate.n_unmeasured)} of {figures.count(planned)} not measured in one of the two")
    if rate.n_unpaired:
        parts.append(f"{figures.count(rate.n_unpaired)} dialogues have no pair")
    return f"({'; '.join(parts)})"


def paired_difference_text(rate: PairedRate) -> str:
    """Return the difference with its interval and conclusion."""
    difference = rate.difference
    if isinstance(difference, Undefined):
        return difference.reason
    if rate.n < figures.FEW:
        return "too few pairs for more than counts"
    text = f"difference {points_text(difference.value)} points"
    if difference.low is not None and difference.high is not None:
        text += f", {points_text(difference.low)} to {points_text(difference.high)}"
    return f"{text}: {_verdict(rate, difference)}"


def points_text(fraction: float) -> str:
    """Return a difference of fractions in points, with its sign."""
    text = f"{100 * fraction:+.1f}"
    return text.replace("+0.0", "0.0").replace("-0.0", "0.0") if abs(fraction) < 0.0005 else text


def _verdict(rate: PairedRate, difference: Estimate) -> str:
    if not rate.flips:
        return "no pair changed"
    tested = _test_text(rate)
    if is_significant(rate):
        return f"{'fewer' if difference.value < 0 else 'more'} defects, statistically significant ({tested})"
    if not _spans_zero(difference):
        return f"not statistically significant ({tested}): {_why_unsure(rate)}"
    if rate.n_wanted is None:
        return f"not statistically significant ({tested})"
    points, pairs = abs(100 * difference.value), figures.count(rate.n_wanted)
    power_note = f"detecting a difference of {points:.0f} points needs about {pairs} pairs"
    return f"not statistically significant ({tested}); {power_note}"


def is_significant(rate: PairedRate) -> bool:
    """Return whether interval and adjusted test both exclude no difference."""
    difference = rate.difference
    is_sure = rate.adjusted is not None and rate.adjusted < SURE
    return isinstance(difference, Estimate) and rate.n >= figures.FEW and is_sure and not _spans_zero(difference)


def _spans_zero(difference: Estimate) -> bool:
    return difference.low is None or difference.high is None or difference.low <= 0.0 <= difference.high


def _test_text(rate: PairedRate) -> str:
    return p_value_text(rate) if rate.test is None else f"{p_value_text(rate)}, adjusted, {rate.test.method}"


def p_value_text(rate: PairedRate) -> str:
    """Return the adjusted p-value, e.g. `p = 0.12`."""
    if rate.test is None or rate.adjusted is None:
        return "no test"
    return f"p = {rate.adjusted:.2g}" if rate.adjusted >= 0.0005 else "p < .001"


def _why_unsure(rate: PairedRate) -> str:
    """Return why a difference with an interval that excludes 0 is not significant."""
    if rate.test is not None and rate.test.p_value < SURE:
        return "significant alone, but not after correction for all comparisons; the interval covers this one alone"
    return "too few personas or scripts changed for a test over clusters, whatever the interval"


def unsure_text(rate: PairedRate) -> str:
    """Return in brackets why a difference is not significant although its interval excludes 0; else nothing."""
    difference = rate.difference
    if is_significant(rate) or not isinstance(difference, Estimate) or _spans_zero(difference):
        return ""
    is_sure_alone = rate.test is not None and rate.test.p_value < SURE
    return " (after correction for all comparisons)" if is_sure_alone else " (too few personas or scripts changed)"
