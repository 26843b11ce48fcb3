"""Corrected rates and certificates, found again beside the numbers of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.certificate import Certificate
from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting.found.rates import Rate
from theodolite.reporting.words import figures

TRANSPORTED, MEAN, OWN_MEAN = "rogan_gladen_rate", "corrected_mean", "judge_mean"
"""Measures: a rate by errors known from elsewhere, a mean by people's scores, and the judge's own mean."""

CORRECTED = ("corrected_rate", TRANSPORTED, MEAN)
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
        return self.measurement.about["annotator"]

    @property
    def by(self) -> str:
        """Name of the person."""
        return self.measurement.about["by"]

    @property
    def result(self) -> Estimate | Undefined:
        """The corrected rate, or why there is none."""
        return self.measurement.result

    @property
    def text(self) -> str:
        """The corrected rate in words, e.g. `12.1 %, 5.2 to 21.0, from 40 labels`."""
        result = self.result
        if isinstance(result, Undefined):
            return f"unknown: {result.reason}"
        if self.is_mean:
            return f"mean {_mean_text(result)}, from {figures.number_of(result.n, 'label')}"
        ends = figures.span(result.low or 0.0, 1.0 if result.high is None else result.high)
        counted = "verdict" if self.is_transported else "label"
        return f"{figures.percent(result.value)}, {ends}, from {figures.number_of(result.n, counted)}"

    @property
    def is_transported(self) -> bool:
        """Whether the judge's errors are known from dialogues of other origin."""
        return self.measurement.measure == TRANSPORTED

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean of scores and no rate."""
        return self.measurement.measure == MEAN


def _mean_text(result: Estimate) -> str:
    ends = "" if result.low is None or result.high is None else f", {result.low:.2f} to {result.high:.2f}"
    return f"{result.value:.2f}{ends}"


def corrections_of(findings: Findings, guideline: Guideline, rule: DefectRule | None = None) -> tuple[Correction, ...]:
    """Return the corrected rates of a guideline, or of one of its rules, in order; and means of what a rule asks."""
    return tuple(
        Correction(place=place, measurement=one)
        for place, one in enumerate(findings.measurements)
        if one.measure in CORRECTED
        and one.about.get("guideline") == guideline.name
        and (rule is None or one.about.get("rule") == rule.name or one.about.get("question") == rule.question)
    )


def own_words(correction: Correction, findings: Findings, rates: Sequence[Rate]) -> str:
    """Return the number by the judge alone that a corrected one stands beside; empty where there is none."""
    if not correction.is_mean:
        own = own_rate(correction, rates)
        return own_text(own) if own else ""
    about = {name: value for name, value in correction.measurement.about.items() if name != "by"}
    for one in findings.measurements:
        same = one.measure == OWN_MEAN and one.application == correction.measurement.application
        if same and dict(one.about) == about and isinstance(one.result, Estimate):
            return f"mean {_mean_text(one.result)} of {figures.count(one.result.n)}"
    return ""


def own_rate(correction: Correction, rates: Sequence[Rate]) -> Rate | None:
    """Return the rate by the judge alone that a corrected rate stands beside."""
    about = correction.measurement.about
    wanted = {name: value for name, value in about.items() if name != "by"}
    for rate in rates:
        same = rate.measurement.application == correction.measurement.application and rate.group is None
        if same and wanted.items() <= dict(rate.measurement.about).items():
            return rate
    return None


def own_text(rate: Rate) -> str:
    """Return the judge's own rate in words, e.g. `9 of 57 (15.8 %)`."""
    return figures.share(rate.defects, rate.measurement.result.n)


def certificate_of_judge(evidence: Evidence, annotator: str) -> Certificate | None:
    """Return the certificate of an annotator as it is now; None where it has none."""
    return next((one for one in evidence.certificates if one.judge == annotator), None)


def certificate_note(evidence: Evidence, annotator: str) -> str:
    """Return that a judge has a certificate, or none; empty for people and final labels."""
    known = next((one for one in evidence.study.annotators if one.name == annotator), None)
    if known is None or known.kind is AnnotatorKind.PERSON:
        return ""
    found = certificate_of_judge(evidence, annotator)
    return f"certificate of {found.issued:%Y-%m-%d}" if found else "no certificate"
