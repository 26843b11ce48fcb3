"""Results of gates: each limit of a study with the rates that it limits, and their sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.estimate import Findings
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import Estimate, Outcomes, Undefined
from theodolite.domain.gate import Gate, GateFacts, GateForm, GateResult, gate_result, validation_result
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import NO_RATE_OF_NAME, NOT_IN_BASELINE
from theodolite.reporting.queries.rates import Rate, lead_rates, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import difference_text

NO_BASELINE = "no baseline run was named; give one:  theodolite gate STUDY --baseline STUDY@1"


SECONDS_PER_DAY = 86_400


def gate_results(study: Study, findings: Findings, facts: GateFacts | None = None) -> tuple[GateResult, ...]:
    """Return each gate of a study with each rate that it limits, in the order of the study file.

    A name of a judge or annotator limits the rates by its labels; a name of a guideline limits the
    rates that the report leads with. A gate without a rate is inconclusive. `worse_by` is left out where
    no baseline was read.

    Args:
        study: The study with its current gates.
        findings: The measurements of a run.
        facts: Values that gates compare with in addition to the rates.
    """
    rates, facts = rates_of(findings, study), facts or GateFacts()
    return tuple(result for gate in study.gates for result in _of_gate(gate, study, rates, facts))


def gate_facts(evidence: Evidence, now: datetime) -> GateFacts:
    """Return the ages of the validations of a study's judges."""
    return GateFacts(
        validation_days={
            report.judge: (now - report.issued).total_seconds() / SECONDS_PER_DAY
            for report in evidence.validation_reports
        }
    )


def _of_gate(gate: Gate, study: Study, rates: tuple[Rate, ...], facts: GateFacts) -> Iterator[GateResult]:
    if gate.form is GateForm.VALIDATED:
        for judge in study.annotators:
            if judge.kind is AnnotatorKind.MODEL and gate.name in {judge.name, judge.guideline}:
                subject = EstimateSubject(
                    application=ALL_APPLICATIONS, guideline=judge.guideline, annotators=(judge.name,)
                )
                yield validation_result(gate, subject, facts.validation_days.get(judge.name))
        return
    if gate.form is GateForm.WORSE_BY and facts.differences is None:
        return
    limited = _limited(gate, study, rates)
    if not limited:
        subject = EstimateSubject(application=ALL_APPLICATIONS, guideline=gate.name)
        undefined = Undefined(reason=NO_RATE_OF_NAME, n=0)
        yield gate_result(gate, subject, undefined, Outcomes(planned=0, used=0))
    for rate in limited:
        one = rate.measurement
        result = _difference(rate, facts) if gate.form is GateForm.WORSE_BY else one.result
        yield gate_result(gate, one.subject, result, one.outcomes)


def _difference(rate: Rate, facts: GateFacts) -> Estimate | Undefined:
    subject = rate.measurement.subject
    key = (subject.application, subject.guideline, subject.rule, rate.annotator)
    missing = Undefined(reason=NOT_IN_BASELINE, n=0) if facts.differences else None
    return (facts.differences or {}).get(key) or missing or Undefined(reason=NO_BASELINE, n=0)


def _limited(gate: Gate, study: Study, rates: tuple[Rate, ...]) -> list[Rate]:
    whole = [rate for rate in rates if rate.group is None]
    if any(annotator.name == gate.name for annotator in study.annotators):
        return [rate for rate in whole if rate.annotator == gate.name]
    rules = [
        rule.name for guideline in study.guidelines if guideline.name == gate.name for rule in guideline.defect_rules
    ]
    return [rate for rule in rules for rate in lead_rates(rates, gate.name, rule)]


def rate_text(result: GateResult) -> str:
    """Return the rate of a result with its count and interval, e.g. `9 of 57, 15.8% (5.9 to 33.0)`."""
    rate = result.result
    if result.gate.form is GateForm.VALIDATED:
        return "not validated" if result.days is None else f"validated {figures.number_of(int(result.days), 'day')} ago"
    if isinstance(rate, Undefined):
        return "no difference" if result.gate.form is GateForm.WORSE_BY else "no rate"
    if result.gate.form is GateForm.WORSE_BY:
        return f"{difference_text(rate)} pairs"
    count = round(rate.value * rate.n) if rate.count is None else rate.count
    text = f"{figures.count(count)} of {figures.count(rate.n)}, {figures.percent(rate.value)}"
    return text if rate.low is None or rate.high is None else f"{text} ({figures.span(rate.low, rate.high)})"


def subject_text(result: GateResult) -> str:
    """Return the subject of a result: application, rule if the guideline has several, test setting."""
    subject = result.subject
    if result.gate.form is GateForm.VALIDATED:
        return ", ".join(subject.annotators)
    parts = [subject.application, subject.rule, subject.test_setting]
    return ", ".join(part for part in parts if part)


def reason_text(result: GateResult) -> str:
    """Return why a gate is not met or inconclusive, and how many dialogues would decide it; empty if it is met."""
    if not result.reason:
        return ""
    text = f"{result.reason[0].upper()}{result.reason[1:].rstrip('.')}."
    if result.n_needed is None:
        return text
    return f"{text} About {figures.count(_rounded(result.n_needed))} independent dialogues decide it."


def _rounded(number: int) -> int:
    """Return a count rounded up to two significant digits."""
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
    several = len({result.subject.application for result in results}) > 1
    return [
        f"{result.gate.name} {result.gate.text}{f', {subject_text(result)}' if several else ''}: {result.state.value}"
        f" ({rate_text(result)})"
        for result in results
    ]
