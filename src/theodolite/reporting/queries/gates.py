"""Results of gates: each limit of a study beside the rates that it limits, and their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theodolite.domain.estimate import Findings
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject
from theodolite.domain.findings.number import Outcomes, Undefined
from theodolite.domain.gate import Gate, GateResult, gate_result
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import NO_RATE_OF_NAME
from theodolite.reporting.queries.rates import Rate, lead_rates, rates_of
from theodolite.reporting.words import figures


def gate_results(study: Study, findings: Findings) -> tuple[GateResult, ...]:
    """Return each gate of a study with each rate that it limits, in the order of the study file.

    A name of a judge or annotator limits the rates by its labels; a name of a guideline limits the
    rates that the report leads with. A gate without a rate is inconclusive.

    Args:
        study: The study with its gates as they are now.
        findings: The measurements of a run.
    """
    rates = rates_of(findings, study)
    return tuple(result for gate in study.gates for result in _of_gate(gate, study, rates))


def _of_gate(gate: Gate, study: Study, rates: tuple[Rate, ...]) -> Iterator[GateResult]:
    limited = _limited(gate, study, rates)
    if not limited:
        subject = EstimateSubject(application=ALL_APPLICATIONS, guideline=gate.name)
        undefined = Undefined(reason=NO_RATE_OF_NAME, n=0)
        yield gate_result(gate, subject, undefined, Outcomes(planned=0, used=0))
    for rate in limited:
        one = rate.measurement
        yield gate_result(gate, one.subject, one.result, one.outcomes)


def _limited(gate: Gate, study: Study, rates: tuple[Rate, ...]) -> list[Rate]:
    whole = [rate for rate in rates if rate.group is None]
    if any(annotator.name == gate.name for annotator in study.annotators):
        return [rate for rate in whole if rate.annotator == gate.name]
    rules = [rule.name for one in study.guidelines if one.name == gate.name for rule in one.defect_rules]
    return [rate for rule in rules for rate in lead_rates(rates, gate.name, rule)]


def rate_text(result: GateResult) -> str:
    """Return the rate of a result with its count and interval, e.g. `9 of 57, 15.8% (5.9 to 33.0)`."""
    rate = result.result
    if isinstance(rate, Undefined):
        return "no rate"
    count = round(rate.value * rate.n) if rate.count is None else rate.count
    text = f"{figures.count(count)} of {figures.count(rate.n)}, {figures.percent(rate.value)}"
    return text if rate.low is None or rate.high is None else f"{text} ({figures.span(rate.low, rate.high)})"


def subject_text(result: GateResult) -> str:
    """Return what a result is about: application, rule where the guideline has several, test setting."""
    subject = result.subject
    parts = [subject.application, subject.rule, subject.test_setting]
    return ", ".join(part for part in parts if part)


def reason_text(result: GateResult) -> str:
    """Return why a gate is not met or inconclusive, and how many dialogues decide it; empty where it is met."""
    if not result.reason:
        return ""
    text = f"{result.reason[0].upper()}{result.reason[1:].rstrip('.')}."
    if result.n_needed is None:
        return text
    return f"{text} About {figures.count(_rounded(result.n_needed))} independent dialogues decide it."


def _rounded(number: int) -> int:
    """Return a count with two digits that matter, rounded up."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def gate_lines(results: Sequence[GateResult]) -> list[str]:
    """Return the table of a terminal, one line for each result and one for its reason."""
    rows = [(one.gate.name, subject_text(one), one.gate.text, rate_text(one), one.state.value) for one in results]
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    lines = []
    for row, result in zip(rows, results, strict=True):
        lines.append("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]))
        if reason := reason_text(result):
            lines.append(f"{'':{widths[0] + 2}}{reason}")
    return lines


def gate_notes(results: Sequence[GateResult]) -> list[str]:
    """Return a sentence for each result, for the summary of a run."""
    several = len({one.subject.application for one in results}) > 1
    return [
        f"{one.gate.name} {one.gate.text}{f', {subject_text(one)}' if several else ''}: {one.state.value}"
        f" ({rate_text(one)})"
        for one in results
    ]
