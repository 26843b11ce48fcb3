"""Corrected rates and validation reports that belong to the numbers of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.domain.validation_report import ValidationReport
from theodolite.reporting.found.rates import Rate
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import undefined_text

CORRECTED = (Measure.CORRECTED_RATE, Measure.ROGAN_GLADEN_RATE, Measure.CORRECTED_MEAN)
"""Measures that are a judge's number, corrected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A judge's rate as one person corrects it, and its place among the findings.

    Attributes:
        place: Place in the list `estimates` of the results file, from 0.
        measurement: The corrected rate.
    """

    place: int
    measurement: Measurement

    @property
    def judge(self) -> str:
        """Name of the judge."""
        return self.measurement.subject.annotator

    @property
    def by(self) -> str:
        """Name of the person who corrects it, or the dialogues that the judge's errors are known from."""
        subject = self.measurement.subject
        return subject.corrected_by or subject.calibrated_on

    @property
    def result(self) -> Estimate | Undefined:
        """The corrected rate, or why there is none."""
        return self.measurement.result

    @property
    def is_defined(self) -> bool:
        """Whether there is a corrected rate."""
        return isinstance(self.result, Estimate)

    @property
    def text(self) -> str:
        """The corrected rate in words, e.g. `12.1 %, 5.2 to 21.0, from 40 labels`."""
        result = self.result
        if isinstance(result, Undefined):
            return undefined_text(result)
        if self.is_mean:
            return f"mean {_mean_text(result)}, from {figures.number_of(result.n, 'label')}"
        ends = figures.span(result.low or 0.0, 1.0 if result.high is None else result.high)
        counted = "verdict" if self.is_transported else "label"
        return f"{figures.percent(result.value)}, {ends}, from {figures.number_of(result.n, counted)}"

    @property
    def is_transported(self) -> bool:
        """Whether the judge's errors are known from dialogues of other origin."""
        return self.measurement.measure is Measure.ROGAN_GLADEN_RATE

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean of scores and no rate."""
        return self.measurement.measure is Measure.CORRECTED_MEAN


def _mean_text(result: Estimate) -> str:
    ends = "" if result.low is None or result.high is None else f", {result.low:.2f} to {result.high:.2f}"
    return f"{result.value:.2f}{ends}"


def corrections_of(findings: Findings, guideline: Guideline, rule: DefectRule | None = None) -> tuple[Correction, ...]:
    """Return the corrected rates of a guideline, or of one of its rules, in order; and means of what a rule asks."""
    return tuple(
        Correction(place=place, measurement=one)
        for place, one in enumerate(findings.measurements)
        if one.measure in CORRECTED
        and one.subject.guideline == guideline.name
        and (rule is None or one.subject.rule == rule.name or one.subject.question == rule.question)
    )


def corrections_to_tell(
    study: Study, findings: Findings, guideline: Guideline, rule: DefectRule | None = None
) -> tuple[Correction, ...]:
    """Return the corrected rates that readers are shown.

    Undefined ones by single people of a pool are left out: the pool has a rate of its own, and each
    of its people labelled a part that nobody drew.
    """
    pool = pools_of(study).get(guideline.name, ())
    return tuple(one for one in corrections_of(findings, guideline, rule) if one.is_defined or one.by not in pool)


def own_words(correction: Correction, findings: Findings, rates: Sequence[Rate]) -> str:
    """Return the number by the judge alone that a corrected one stands beside; empty where there is none."""
    if not correction.is_mean:
        own = own_rate(correction, rates)
        return own_text(own) if own else ""
    uncorrected = replace(correction.measurement.subject, corrected_by="")
    for one in findings.measurements:
        same = one.measure is Measure.JUDGE_MEAN and one.subject == uncorrected
        if same and isinstance(one.result, Estimate):
            return f"mean {_mean_text(one.result)} of {figures.count(one.result.n)}"
    return ""


def own_rate(correction: Correction, rates: Sequence[Rate]) -> Rate | None:
    """Return the rate by the judge alone that a corrected rate stands beside."""
    uncorrected = replace(correction.measurement.subject, corrected_by="", calibrated_on="")
    for rate in rates:
        if replace(rate.measurement.subject, violation=None, among=()) == uncorrected:
            return rate
    return None


def own_text(rate: Rate) -> str:
    """Return the judge's own rate in words, e.g. `9 of 57 (15.8 %)`."""
    return figures.share(rate.defects, rate.measurement.result.n)


def validation_of_judge(evidence: Evidence, annotator: str) -> ValidationReport | None:
    """Return the validation report of an annotator's current version, or None."""
    return next((one for one in evidence.validation_reports if one.judge == annotator), None)


def validation_note(evidence: Evidence, annotator: str) -> str:
    """Return whether a judge is validated; empty for people and final labels."""
    known = next((one for one in evidence.study.annotators if one.name == annotator), None)
    if known is None or known.kind is AnnotatorKind.PERSON:
        return ""
    found = validation_of_judge(evidence, annotator)
    return f"validated {found.issued:%Y-%m-%d}" if found else "not validated"
